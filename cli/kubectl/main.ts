/** `kubectl parley`: what kubectl runs as `kubectl-parley`, and `parley kubectl` by another name. */
import type { Command } from 'commander';

import { completeProgram, createProgram, runProgram } from '../grammar.ts';
import { addCalls } from './calls/command.ts';
import { addExplain } from './explain/command.ts';
import { addLogs } from './logs/command.ts';
import { addRelease } from './release/command.ts';
import { addReport } from './report/command.ts';
import { addStatus } from './status/command.ts';
import { addTest } from './test/command.ts';
import { interruptible } from '../interruptible.ts';
import type { Io } from './io.ts';

export function createPlugin(io: Io): Command {
  const plugin = createProgram('kubectl parley', 'Inspect Parley in a cluster, and roll agents back, with your kubeconfig.');
  addStatus(plugin, io);
  addExplain(plugin, io);
  addLogs(plugin, io);
  addCalls(plugin, io);
  addTest(plugin, io);
  addRelease(plugin, io, 'kubectl parley');
  addReport(plugin, io);
  return completeProgram(plugin, { typed: 'kubectl-parley', io: () => io });
}

/** @param args without the program's own name */
export function runPlugin(args: readonly string[]): Promise<void> {
  return interruptible((io) => runProgram(createPlugin(io), args, io.signal), { whileRead: true });
}
