/** Made by build.mjs from kernel.c: the module in base64. */
export declare const kernel: string;
