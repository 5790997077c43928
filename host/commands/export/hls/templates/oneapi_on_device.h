/* Copy an array to the device, and remember where it came from. */
struct OnDevice {
    sycl::queue &queue;
    std::vector<u64> &host;
    u64 *device;

    OnDevice(sycl::queue &queue, std::vector<u64> &host)
        : queue(queue), host(host), device(sycl::malloc_device<u64>(host.size(), queue))
    {
        queue.memcpy(device, host.data(), 8 * host.size()).wait();
    }
    ~OnDevice()
    {
        queue.memcpy(host.data(), device, 8 * host.size()).wait();
        sycl::free(device, queue);
    }
};
