#ifdef EMULATOR
/* A kernel is a thread here, and waits for a channel without letting others run. There may be fewer cores than
   kernels, so try, and yield. */
int sched_yield(void);
#define READ(value, stream)                                     \
    {                                                           \
        bool is_done = false;                                   \
        value = read_channel_nb_intel(stream, &is_done);        \
        while (!is_done) {                                      \
            sched_yield();                                      \
            value = read_channel_nb_intel(stream, &is_done);    \
        }                                                       \
    }
#define WRITE(stream, value) while (!write_channel_nb_intel(stream, value)) sched_yield();
#else
#define READ(value, stream) value = read_channel_intel(stream);
#define WRITE(stream, value) write_channel_intel(stream, value);
#endif
