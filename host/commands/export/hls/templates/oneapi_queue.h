#if defined(FPGA_HARDWARE)
    sycl::queue queue{sycl::ext::intel::fpga_selector_v};
#elif defined(FPGA_SIMULATOR)
    sycl::queue queue{sycl::ext::intel::fpga_simulator_selector_v};
#else
    sycl::queue queue{sycl::ext::intel::fpga_emulator_selector_v};
#endif
