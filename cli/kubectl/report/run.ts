import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

import { UserError } from '../../../platform/user-error.ts';
import { withConnection, type ConnectionFlags } from '../connection.ts';
import { writePrivately } from '../../write-privately.ts';
import type { Io } from '../io.ts';
import { collectReport } from './collect.ts';
import type { Files } from './files.ts';
import { Redactor } from './redactor.ts';
import { tar } from './tar.ts';

export interface ReportFlags extends ConnectionFlags {
  readonly file?: string;
  readonly withPrompts?: true;
  /** This is false with --no-logs. */
  readonly logs: boolean;
  readonly logLines: number;
}

/** @throws UserError when the cluster can't be reached, or the file can't be written */
export async function runReport(flags: ReportFlags, io: Io): Promise<void> {
  const at = io.now();
  const redactor = new Redactor();
  const files = await withConnection(flags, io, (connection) =>
    collectReport(connection, io, redactor, {
      kubeconfig: flags.kubeconfig ?? io.env['KUBECONFIG'],
      withPrompts: flags.withPrompts === true,
      logLines: flags.logs ? flags.logLines : 0,
      progress: (what) => io.err.isTTY === true && io.err.write(`reading: ${what}\n`),
    }),
  );
  const stamp = new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '');
  const name = `parley-report-${stamp}`;
  files.text('README.txt', 'this list', readme(files, flags.withPrompts === true));
  const entries = files.all.map(({ path, content }) => ({ path: `${name}/${path}`, content: Buffer.from(redactor.finish(content)) }));
  const file = resolve(io.folder, flags.file ?? `${name}.tar.gz`);
  const archive = gzipSync(tar(entries, Math.floor(at / 1000)), { level: 9 });
  try {
    await writePrivately(file, archive, flags.file === undefined ? 'wx' : 'w');
  } catch (cause) {
    throw new UserError(`the report can't be written: ${(cause as Error).message}`, { cure: 'name another file with --file', cause });
  }
  io.out.write(`${contents(files)}\n${file} (${Math.ceil(archive.length / 1024)} KiB)\n`);
  io.out.write('Check it before you send it: secrets are masked by their position and their form, and no rule finds all of them.\n');
}

function contents(files: Files): string {
  const lines = files.all.map(({ path, about }) => `  ${path}: ${about}\n`);
  const missing = files.problems.map((problem) => `  ${problem}\n`);
  return `The report has:\n${lines.join('')}${missing.length === 0 ? '' : `\nMissing in it:\n${missing.join('')}`}`;
}

function readme(files: Files, withPrompts: boolean): string {
  return `A report of a Parley installation, for the person who investigates a problem with it.

${contents(files)}
Masked (********): every value of a Secret (Secrets are not read for it), variables of containers that are not plain settings of Parley,
arguments of commands, annotations and labels that are not known, values of headers, parameters and bodies, user names, passwords and
queries of addresses, words that look like keys or tokens, mail addresses and phone numbers${withPrompts ? '' : ', prompts and what agents say'}.
What was masked in one place is masked wherever it stands, from six characters on. Words are, from eight letters on, where they stood in
the place of a secret: a header, a parameter, a password, a variable or member whose name says so. What labels, arguments and other
variables have is too often a word like "production".
`;
}
