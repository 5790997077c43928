typedef std::map<std::string, std::vector<u64>> Arrays;

/* Read the blocks of vectors.bin: a name of 32 bytes, the number of elements, and the elements. */
static Arrays read_vectors(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    Arrays arrays;
    char name[33] = {0};
    while (file.read(name, 32)) {
        u64 count = 0;
        file.read(reinterpret_cast<char *>(&count), sizeof count);
        std::vector<u64> content(count);
        file.read(reinterpret_cast<char *>(content.data()), static_cast<std::streamsize>(8 * count));
        arrays[name] = content;
    }
    if (!arrays.count("run")) {
        std::fprintf(stderr, "testbench: %s has no golden vectors\n", path);
        std::exit(2);
    }
    return arrays;
}

