/**
 * The encoder of the agent server's recorder, made to write at once what it has encoded.
 *
 * By itself ffmpeg writes when 256 KiB have come together: of a call in which little is said that is minutes, and all of it is gone when a
 * container is killed as a whole. The recorder starts whatever `LIVEKIT_FFMPEG_PATH` names; so it is given a script that starts ffmpeg with two
 * settings more, and in a session of its own, so that a signal to the processes around it doesn't end it before the job closes the file.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const name = '.encoder';

/** The settings belong before the file that is written, which comes last; whatever else ffmpeg is asked for stays as it is. */
const script = (ffmpeg: string): string => `#!/bin/sh
n=$#
for arg do
  shift
  n=$((n - 1))
  if [ "$n" -eq 0 ]; then
    case "$arg" in
      *.ogg) set -- "$@" -flush_packets 1 -page_duration 500000 ;;
    esac
  fi
  set -- "$@" "$arg"
done
if command -v setsid >/dev/null; then exec setsid '${ffmpeg.replaceAll("'", `'\\''`)}' "$@"; fi
exec '${ffmpeg.replaceAll("'", `'\\''`)}' "$@"
`;

/**
 * Writes the script into the spool.
 *
 * @param env a program of its own in `LIVEKIT_FFMPEG_PATH` stays the one that encodes
 * @returns what `LIVEKIT_FFMPEG_PATH` is to be for the jobs
 * @throws Error where it can't be started there, as on a file system without programs: then the recorder works as it does by itself
 */
export async function prepareEncoder({
  spool,
  env,
}: {
  readonly spool: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Promise<string> {
  const file = join(spool, name);
  const given = env['LIVEKIT_FFMPEG_PATH'];
  await mkdir(spool, { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, script(given === undefined || given === '' || given === file ? bundledFfmpeg() : given));
  await chmod(temporary, 0o700);
  await rename(temporary, file);
  await run(file, ['-version']);
  return file;
}

/** The one that comes with the agent server; a program of the system where there is none for it. */
function bundledFfmpeg(): string {
  try {
    const require = createRequire(fileURLToPath(import.meta.resolve('@livekit/agents')));
    return (require('@livekit/av') as { getFfmpegPath(): string | null }).getFfmpegPath() ?? 'ffmpeg';
  } catch {
    return 'ffmpeg';
  }
}
