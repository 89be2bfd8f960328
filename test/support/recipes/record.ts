/**
 * Records the answers in `examples/recipes/<recipe>/tests/cassettes` with the scripts of this folder in the place of models. Run it after a change of
 * a recipe, or of what Parley adds to requests: `node test/support/recipes/record.ts [recipe…]`
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startProviderServer } from '../provider-server.ts';
import { run } from '../run.ts';
import { parleyEntry } from '../stack.ts';
import { startHelpDeskServer } from './help-desk-server.ts';
import { HELP_DESK_URL, recipeFolder, recipes } from './recipes.ts';
import { standIn } from './stand-in.ts';

const provider = await startProviderServer();
const helpDesk = await startHelpDeskServer();
const wanted = process.argv.slice(2);

async function replaceIn(file: string, from: string, to: string): Promise<void> {
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll(from, to));
}

async function record(name: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), `recipe-${name}-`));
  const source = recipeFolder(name);
  for (const part of ['manifests', 'tests'])
    await cp(join(source, part), join(folder, part), { recursive: true, filter: (file) => !file.includes('cassettes') });
  await replaceIn(join(folder, 'manifests/tools.yaml'), HELP_DESK_URL, helpDesk.url);
  provider.chat(standIn(recipes[name]!).chat);
  const { code, stdout, stderr } = await run(process.execPath, [parleyEntry, 'test', '.', '--record'], {
    cwd: folder,
    env: {
      ...process.env,
      PARLEY_PROVIDERS: JSON.stringify([{ name: 'openai', baseURL: provider.url }]),
      OPENAI_API_KEY: 'none',
      PARLEY_TEST_JUDGE: undefined,
      PARLEY_SECRET_HELP_DESK_SERVER_AUTHORIZATION: 'Bearer none',
    },
  });
  process.stdout.write(`${name}\n${stdout}${stderr}`);
  if (code !== 0) process.exitCode = 1;
  const list = join(folder, 'manifests/cassettes/tools/help-desk-tickets.yaml');
  if (name === 'help-desk') await replaceIn(list, helpDesk.url, HELP_DESK_URL);
  for (const part of ['manifests/cassettes', 'tests/cassettes']) {
    await rm(join(source, part), { recursive: true, force: true });
    await cp(join(folder, part), join(source, part), { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  await rm(folder, { recursive: true });
}

for (const name of Object.keys(recipes)) if (wanted.length === 0 || wanted.includes(name)) await record(name);
await helpDesk.stop();
await provider.close();
