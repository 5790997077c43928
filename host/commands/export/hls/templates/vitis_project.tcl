# Project for Vitis HLS: vitis_hls -f project.tcl  (2022.1 or newer; untested, as there was none)

set part [expr {[info exists ::env(PART)] ? $::env(PART) : "xcu280-fsvh2892-2L-e"}]
set period [expr {[info exists ::env(PERIOD)] ? $::env(PERIOD) : 3.33}]

open_project -reset project
set_top @NAME@
add_files @NAME@.cpp
add_files -tb @NAME@.cpp -cflags "-pthread"
add_files -tb vectors.bin
open_solution -reset -flow_target vitis solution
set_part $part
create_clock -period $period
csim_design -ldflags "-pthread"
csynth_design
export_design -format xo -output @NAME@.xo
exit
