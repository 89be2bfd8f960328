/**
 * The encoder of the agent server's recorder, made to write at once what it has encoded.
 *
 * By itself ffmpeg writes when 256 KiB have come together: of a call in which little is said that is minutes, and all of it is gone when a
 * container is killed as a whole. The recorder starts whatever `LIVEKIT_FFMPEG_PATH` names; so it is given a script that becomes ffmpeg, with two
 * settings more. Where there is a shell it is in a session of its own, too, so that a signal to the processes around it doesn't end it before
 * the job closes the file; an image without one has no terminal to send any.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FILE_NAME = '.encoder';
const SHELL = '/bin/sh';

/** They belong before the file that is written, which comes last; whatever else ffmpeg is asked for stays as it is. */
const SETTINGS = ['-flush_packets', '1', '-page_duration', '500000'] as const;

function shellScript(ffmpeg: string): string {
  const program = `'${ffmpeg.replaceAll("'", `'\\''`)}'`;
  return `#!${SHELL}
n=$#
for arg do
  shift
  n=$((n - 1))
  if [ "$n" -eq 0 ]; then
    case "$arg" in
      *.ogg) set -- "$@" ${SETTINGS.join(' ')} ;;
    esac
  fi
  set -- "$@" "$arg"
done
if command -v setsid >/dev/null; then exec setsid ${program} "$@"; fi
exec ${program} "$@"
`;
}

/** Takes 40 ms longer to start, and is gone then, too. */
function nodeScript(ffmpeg: string): string {
  return `#!${process.execPath} --no-warnings
const args = process.argv.slice(2);
if (args.at(-1)?.endsWith('.ogg')) args.splice(-1, 0, ...${JSON.stringify(SETTINGS)});
process.execve(${JSON.stringify(ffmpeg)}, [${JSON.stringify(ffmpeg)}, ...args]);
`;
}

/**
 * Writes the script into the spool, which has to be there.
 *
 * @param env a program of its own in `LIVEKIT_FFMPEG_PATH` stays the one that encodes
 * @returns what `LIVEKIT_FFMPEG_PATH` is to be for the jobs
 * @throws Error where it can't be started there, as on a file system without programs: then the recorder works as it does by itself
 */
export async function prepareEncoder({
  spool,
  env,
  hasShell = existsSync(SHELL),
}: {
  readonly spool: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hasShell?: boolean;
}): Promise<string> {
  const file = join(spool, FILE_NAME);
  const given = env['LIVEKIT_FFMPEG_PATH'];
  const temporary = `${file}.${process.pid}`;
  const ffmpeg = given === undefined || given === '' || given === file ? bundledFfmpeg() : given;
  await writeFile(temporary, hasShell ? shellScript(ffmpeg) : nodeScript(ffmpeg));
  await chmod(temporary, 0o700);
  await rename(temporary, file);
  await run(file, ['-version']);
  return file;
}

/** The one that comes with the agent server; a program of the system where there is none for it. */
function bundledFfmpeg(): string {
  try {
    const require = createRequire(import.meta.url);
    return (require('@livekit/av') as { getFfmpegPath(): string | null }).getFfmpegPath() ?? 'ffmpeg';
  } catch {
    return 'ffmpeg';
  }
}
