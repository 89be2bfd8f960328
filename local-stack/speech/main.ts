/** `parley dev-speech`: speech and answers for a stack on one's own machine, without an account anywhere. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

import { createLogger, type Logger } from '../../platform/logging.ts';
import { Helper } from './helper.ts';
import { type DevSpeechServer, startDevSpeechServer } from './server.ts';
import { Speech, type SpeechOptions } from './speech.ts';
import { findPythonWithVenv, pythonWith } from '../binaries/python-environment.ts';

export interface StartDevSpeechOptions {
  /** Address to listen on; the loopback address by default. */
  readonly host?: string;
  /** Port to listen on; 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
  readonly env: NodeJS.ProcessEnv;
}

/** Serves at once with what there is; resolves when the models are loaded. */
export async function startDevSpeech({ host = '127.0.0.1', port, logger, env }: StartDevSpeechOptions): Promise<DevSpeechServer> {
  const { helper, ...tools } = await toolsOf(env, logger);
  const speech = new Speech({ ...tools, ...(helper !== undefined && { helper }) });
  logger.info(
    { voice: speech.canSpeak ? 'espeak-ng' : 'tones', ear: speech.canHear ? 'pocketsphinx' : 'none', answers: 'rules' },
    'dev-speech is no speech service and no language model: it is for trying things offline. A robot speaks, some phrases are understood, and answers follow a few rules',
  );
  if (!speech.canSpeak)
    logger.warn('no voice: tones are played in place of words. Install espeak-ng, or Python 3.10 or newer with venv and pip');
  if (!speech.canHear)
    logger.warn(
      'no recogniser: transcripts follow a script, or guess by the length of what was said. Install Python 3.10 or newer with venv and pip',
    );
  const server = await startDevSpeechServer({ host, port, token: env['PARLEY_DEV_SPEECH_TOKEN'] || undefined, speech, logger });
  return {
    ...server,
    async close() {
      await server.close();
      await helper?.close();
    },
  };
}

async function toolsOf(env: NodeJS.ProcessEnv, logger: Logger): Promise<SpeechOptions> {
  const espeak = onPath('espeak-ng', env);
  const fallback = espeak === undefined ? {} : { espeak };
  try {
    const python = await speechPython(env);
    if (python === undefined) return fallback;
    const helper = new Helper({ python, onLog: (line) => logger.debug({ line }, 'output of the speech helper') });
    const problems = await helper.start();
    for (const [component, problem] of Object.entries(problems))
      logger.warn({ component, problem }, 'a component of the speech helper does not work');
    return { helper, problems, ...fallback };
  } catch (error) {
    logger.warn({ err: error }, 'failed to start the speech helper; using espeak-ng or tones');
    return fallback;
  }
}

function onPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Serves until SIGTERM. */
export async function runDevSpeech({
  env,
  ...address
}: {
  readonly host: string;
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
}): Promise<void> {
  const logger = createLogger({ role: 'dev-speech', level: env['PARLEY_LOG_LEVEL'] || 'info' });
  const server = await startDevSpeech({ ...address, logger, env });
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
  await server.close();
}

export const SPEECH_TOOLS = {
  name: 'dev-speech',
  // The requirements leave out what pocketsphinx needs for microphones.
  requirements: ['--no-deps', '--retries', '1', '--only-binary=:all:', 'espeakng-loader==0.2.4', 'pocketsphinx==5.1.1'],
};

/** @returns undefined where there is no Python that can make environments; @throws Error when the wheels can't be had */
export async function speechPython(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const python = await findPythonWithVenv(env);
  return python === undefined ? undefined : pythonWith(python, SPEECH_TOOLS, env);
}
