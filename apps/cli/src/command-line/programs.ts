/** The commands for those who write programs, and those that show and test Mayfly. */
import type { Command } from 'commander';
import type { Act } from './options.ts';
import type { DemoOptions } from '../demo/demo.ts';

const DRIVER_HELP = {
  mpicc: 'compile and link C, with the options of clang and the link of MPI',
  mpicxx: 'compile and link C++ (also as mpic++ and mpiCC)',
  ar: 'archives of the objects of mpicc; likewise ranlib, nm, objdump, size, strip',
};

export function programCommands(program: Command, act: Act): void {
  // What mayfly.ts has taken before it came here: listed for --help.
  for (const [name, description] of Object.entries(DRIVER_HELP))
    program.command(name).description(description).argument('[arguments...]').helpOption(false).allowUnknownOption();
  program
    .command('cmake-toolchain')
    .description('print the path of the CMake toolchain file: cmake -DCMAKE_TOOLCHAIN_FILE=$(mayfly cmake-toolchain) …')
    .action(act(async () => (await import('../commands/cmake-toolchain.ts')).cmakeToolchain()));

  program
    .command('new')
    .description('create a program to start from')
    .argument('<folder>')
    .action(act(async (folder: string) => (await import('../commands/new.ts')).newProgram(folder)));
  program
    .command('demo')
    .description('run four tabs on a real matrix, close two of them while they compute, and compare the answers')
    .option('--headless-nodes', 'headless nodes instead of browser tabs')
    .option('--show', 'show the browser')
    .action(act(async (o: DemoOptions) => (await import('../demo/demo.ts')).demo(o)));
  program
    .command('simulate')
    .description('test the protocol cores with simulated faults (see --seeds, --seed)')
    .helpOption(false)
    .allowUnknownOption()
    .argument('[args...]')
    .passThroughOptions()
    .action(act(async (args: string[]) => (await import('../simulate.ts')).simulateCommand(args)));
}
