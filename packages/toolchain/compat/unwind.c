/* Room for the stack that Asyncify unwinds, in the program's own memory, so that an image has it. Its bounds are exported; the size comes from the driver. */
#define TEXT(x) #x
#define VALUE(x) TEXT(x)
__asm__(".globl mayfly_unwind_buffer\n"
        ".globl mayfly_unwind_end\n"
        ".type mayfly_unwind_buffer,@object\n"
        ".type mayfly_unwind_end,@object\n"
        ".section .bss.mayfly_unwind,\"\",@\n"
        ".p2align 4\n"
        "mayfly_unwind_buffer:\n"
        ".skip " VALUE(MAYFLY_UNWIND_BYTES) "\n"
        "mayfly_unwind_end:\n"
        ".skip 16\n"
        ".size mayfly_unwind_buffer, " VALUE(MAYFLY_UNWIND_BYTES) "\n"
        ".size mayfly_unwind_end, 16\n");
