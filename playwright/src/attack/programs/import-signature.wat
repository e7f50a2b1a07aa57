;; Tries: Mayfly's imports with other parameters and results
;; Stood for: a JavaScript function gets arguments that it does not expect
;; Ends: refused BAD_MODULE, done, failed PROGRAM_TRAP, failed PROGRAM_ERROR, failed MPI_ERROR
(module (import "env" "MPI_Init" (func $init (param i64 f32 i64 i64 i64) (result i64))) (import "wasi_snapshot_preview1" "fd_write" (func $w (param f64) (result f32))) (memory (export "memory") 1 10) (func (export "_start") (drop (call $init (i64.const -1) (f32.const nan) (i64.const 0) (i64.const 0) (i64.const 0))) (drop (call $w (f64.const 1e300)))))
