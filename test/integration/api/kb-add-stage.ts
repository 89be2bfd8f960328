/** Serves the suites of `parley kb add` with the api, which has a rate limit, and real ingestion behind it. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from 'vitest';

import { limitsOf } from '../../../api/limits/limits-of.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { run, type Finished } from '../../support/run.ts';
import { parley } from '../../support/stack.ts';
import { organization, startFacade, type Facade } from './facade.ts';
import { knowledgeMeans } from './knowledge-means.ts';

/** A knowledge base with an organisation and a key of its own. */
export interface Base {
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
  documents(): Promise<readonly { readonly filename: string; readonly status: string }[]>;
}

export interface AddStage {
  readonly facade: Facade;
  aBase(): Promise<Base>;
  /** Makes a new folder with these files. */
  aFolder(name: string, files: Readonly<Record<string, string>>): Promise<string>;
  close(): Promise<void>;
}

export async function addStage(): Promise<AddStage> {
  const limits = limitsOf(loadConfig({ PARLEY_RATE_LIMIT_KEY_PER_SECOND: '40', PARLEY_RATE_LIMIT_KEY_BURST: '20' }));
  const means = await knowledgeMeans();
  const facade = await startFacade({ limits, knowledge: means.knowledge });
  await means.startWorker(facade.database.url);
  const folder = await mkdtemp(join(tmpdir(), 'parley-kb-add-'));
  return {
    facade,
    async aBase() {
      const org = await organization(facade);
      const { body } = await org.call('POST', '/api/v1/knowledge-bases', { name: 'Manuals' });
      const { collections, documents } = facade.store.knowledge;
      return {
        id: body.id,
        env: { PARLEY_URL: facade.url, PARLEY_API_KEY: org.key },
        async documents() {
          const collection = await collections.byName({ org: org.name, name: body.id });
          if (collection === undefined) return [];
          const { items } = await documents.list({ org: org.name, collectionId: collection.id, pageSize: 1_000 });
          return items.map(({ filename, status }) => ({ filename, status }));
        },
      };
    },
    async aFolder(name, files) {
      const path = join(folder, name);
      for (const [file, content] of Object.entries(files)) {
        await mkdir(join(path, file, '..'), { recursive: true });
        await writeFile(join(path, file), content);
      }
      return path;
    },
    async close() {
      await means.close();
      await facade.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function add(base: Pick<Base, 'id' | 'env'>, ...args: readonly string[]): Promise<Finished> {
  return run(parley, ['kb', 'add', base.id, ...args], { env: base.env, timeoutMs: 900_000 });
}

/**
 * Adds a folder with three bad files among `total`: all others are added, the bad ones named, and nothing is doubled by repeating it.
 * @returns the names of all documents
 */
export async function addsAllButThree(stage: AddStage, total: number): Promise<readonly string[]> {
  const base = await stage.aBase();
  const good = total - 3;
  const files: Record<string, string> = {};
  for (let n = 0; n < good; n += 1) files[`part-${n % 5}/note-${n}.md`] = `# Note ${n}\n\nGate ${n} opens with the code ${n * 7}.\n`;
  files['part-1/picture.png'] = 'PNG';
  files['part-2/empty.txt'] = '';
  files['part-3/broken.pdf'] = 'This is no PDF.';
  const path = await stage.aFolder(`all-${total}`, files);

  const first = await add(base, path);
  expect([first.code, first.stderr]).toEqual([1, expect.stringContaining(`${good} added, 3 failed: ${total} files`)]);
  expect(lines(first, 'completed')).toHaveLength(good);
  expect(lines(first, 'failed').toSorted((a, b) => (fileOf(a) < fileOf(b) ? -1 : 1))).toEqual([
    expect.stringMatching(/^- failed .*picture\.png: files of this kind are not read: only \.pdf/),
    expect.stringMatching(/^doc_\S+ failed .*empty\.txt: ./),
    expect.stringMatching(/^doc_\S+ failed .*broken\.pdf: ./),
  ]);
  const names = async (): Promise<readonly string[]> => (await base.documents()).map(({ filename }) => filename).toSorted();
  const after = await names();
  expect(after).toHaveLength(total - 1);

  const again = await add(base, path, '--skip-existing');
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(`0 added, ${good} skipped, 3 failed: ${total} files`)]);
  expect(await names()).toEqual(after);
  return after;
}

const lines = ({ stdout }: Finished, status: string): readonly string[] =>
  stdout.split('\n').filter((line) => line.split(' ')[1] === status);
const fileOf = (line: string): string => line.split(' ')[2] ?? '';
