/** Where the package @mayfly/volunteer starts: the command `mayfly volunteer`, and nothing else. */
import { Command } from 'commander';
import { browserValue, describeVolunteer } from './command-line/volunteer.ts';
import { runCommandLine } from './run-command-line.ts';
import { VERSION } from './version.ts';

await runCommandLine(
  (act) => {
    const command = new Command('mayfly-volunteer').version(VERSION, '-V, --version');
    describeVolunteer(command, act);
    return command;
  },
  () => browserValue(process.argv.slice(2)),
);
