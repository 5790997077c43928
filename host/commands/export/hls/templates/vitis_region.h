{
@INTERFACES@#pragma HLS dataflow
@STREAMS@
#ifndef __SYNTHESIS__
    std::vector<std::thread> running;
#endif
@STARTS@
#ifndef __SYNTHESIS__
    for (std::thread &one : running) {
        one.join();
    }
#endif
}
