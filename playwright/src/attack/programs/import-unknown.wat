;; Tries: imports that do not exist for a rank: process, fs, JavaScript
;; Stood for: the host trusts every import
;; Ends: refused BAD_MODULE
(module
  (import "env" "MPI_Init" (func $init (param i32 i32) (result i32))) (import "env" "MPI_Finalize" (func $fin (result i32)))
  (import "node:fs" "readFileSync" (func $read (param i32) (result i32))) (import "env" "emscripten_run_script" (func $run (param i32)))
  (memory (export "memory") 2 10)
  (func (export "_start") (drop (call $init (i32.const 0) (i32.const 0))) (drop (call $fin))))
