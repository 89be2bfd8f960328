/**
 * Makes the encoder of the agent server's recorder write at once what it has encoded.
 *
 * ffmpeg by default writes every 256 KiB: minutes of a quiet call, which are lost when the container is killed. The recorder starts the program in
 * `LIVEKIT_FFMPEG_PATH`: a script that executes ffmpeg with two more settings. Where there is a shell, ffmpeg also runs in a session of its own, so
 * that a signal to the process group doesn't end it before the job closes the file; an image without a shell has no terminal that sends any.
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

/** Before the output file, which is the last argument. */
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

/** Starts 40 ms slower. */
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
 * @throws Error where it can't be executed, as on a `noexec` file system: then the recorder writes as by default
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
