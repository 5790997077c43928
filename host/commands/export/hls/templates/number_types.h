#ifdef __OPENCL_VERSION__
typedef int i32;
typedef long i64;
typedef ulong u64;
#else
#include <cstdint>
typedef int32_t i32;
typedef int64_t i64;
typedef uint64_t u64;
#endif
