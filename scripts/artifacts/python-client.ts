/** Builds the Python package of the client: wheel and source archive. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { findPythonWithVenv, pythonWith } from '../../local-stack/binaries/python-environment.ts';
import { UserError } from '../../platform/user-error.ts';
import { documentForPython, type ClientDocument } from './python-document.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'clients/python');
/** Versions of the generator and the builder. */
const REQUIREMENTS = ['openapi-python-client==0.29.1', 'build==1.3.0', 'hatchling==1.27.0'];
/** The rest of what the generator writes is ours: the client and its errors. */
const GENERATED = ['api', 'models', 'types.py'];

/** @param folder folder of the package's sources, which is written anew: to be installed, or built into archives */
export async function generatePythonClient(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const file of ['pyproject.toml', 'README.md', 'parley_client'])
    await cp(join(source, file), join(folder, file), { recursive: true });
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const document = JSON.parse(await readFile(join(root, 'docs/reference/openapi.json'), 'utf8')) as ClientDocument;
  const [input, output] = [join(folder, 'openapi.json'), join(folder, 'generated')];
  await writeFile(input, JSON.stringify(documentForPython(document)));
  const options = ['--config', join(source, 'generator.yml'), '--custom-template-path', join(source, 'templates'), '--fail-on-warning'];
  await python('-m', 'openapi_python_client', 'generate', '--path', input, '--output-path', output, '--meta', 'none', ...options);
  for (const made of GENERATED) await cp(join(output, made), join(folder, 'parley_client', made), { recursive: true });
  await rm(output, { recursive: true });
  await rm(input);
}

/** @param version version that the package has to have. @returns the names of the archives in `out` */
export async function buildPythonClient(version: string, out: string): Promise<readonly string[]> {
  const facts = await readFile(join(source, 'pyproject.toml'), 'utf8');
  if (!facts.includes(`\nversion = "${version}"\n`))
    throw new Error(`clients/python/pyproject.toml is not of version ${version}, as package.json: give both the same version`);
  const folder = join(root, 'build/clients/python');
  await generatePythonClient(folder);
  await python('-m', 'build', '--no-isolation', '--outdir', join(folder, 'dist'), folder);
  const archives = (await readdir(join(folder, 'dist'))).toSorted();
  for (const archive of archives) await cp(join(folder, 'dist', archive), join(out, archive));
  return archives;
}

/** Runs Python with the tools in an environment of their own; the generator looks for its formatter on PATH. */
async function python(...args: readonly string[]): Promise<void> {
  const found = await findPythonWithVenv();
  if (found === undefined)
    throw new UserError('the Python client needs Python 3.10 or newer with the modules venv and ensurepip', {
      cure: 'run apt-get install python3-venv',
    });
  const interpreter = await pythonWith(found, { name: 'python-client-tools', requirements: REQUIREMENTS });
  const PATH = `${dirname(interpreter)}:${process.env['PATH']}`;
  await run(interpreter, args, { maxBuffer: 16 * 1024 * 1024, env: { ...process.env, PATH } });
}
