;; Tries: a memory and a table from outside, shared
;; Stood for: memory of the host as the program's own
;; Ends: refused BAD_MODULE
(module (import "env" "memory" (memory 1 10 shared)) (import "env" "__indirect_function_table" (table 1 funcref)) (func (export "_start")))
