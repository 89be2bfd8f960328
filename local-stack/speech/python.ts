/** The helper's Python: an environment of its own in the cache, with pinned wheels. */
import { findPythonWithVenv, pythonWith } from '../binaries/python-environment.ts';

const speechTools = {
  name: 'dev-speech',
  version: 'espeakng-loader-0.2.4-pocketsphinx-5.1.1',
  // Without what pocketsphinx needs for microphones.
  requirements: ['--no-deps', '--retries', '1', '--only-binary=:all:', 'espeakng-loader==0.2.4', 'pocketsphinx==5.1.1'],
};

/** @returns undefined where there is no Python that can make environments; @throws Error when the wheels can't be had */
export async function speechPython(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const python = await findPythonWithVenv(env);
  return python === undefined ? undefined : pythonWith(python, speechTools, env);
}
