import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import type { KnowledgeBase } from '../../crds/index.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { memorySnapshot } from '../references/memory-snapshot.ts';
import { planSources, type SourcesPlan } from './sources.ts';
import type { SourceDocument } from './view.ts';

interface Row extends SourceDocument {
  readonly content: string;
}

/** A knowledge base with one source in a ConfigMap, what Postgres holds of it, and a scripted worker. */
class Simulation {
  rows: Row[] = [];
  text = 'a';
  present = true;
  requested: string | undefined;
  now = Date.parse('2026-06-01T00:00:00Z');
  #made = 0;

  plan(): SourcesPlan {
    const spec = this.present
      ? { sources: [{ name: 's', type: 'ConfigMap', configMap: { name: 'texts', key: 'k' }, refreshInterval: '1h' }] }
      : {};
    const annotations = this.requested === undefined ? {} : { 'parley.dev/reconcile-requested-at': this.requested };
    const base = storedObject('KnowledgeBase', 'faq', spec, { metadata: { annotations } }) as KnowledgeBase;
    const texts = { namespace: 'acme', name: 'texts', uid: 't', resourceVersion: '1', keys: ['k'], data: { k: this.text } };
    return planSources(base, memorySnapshot({ organizations: ['acme'], configMaps: [texts] }), { documents: this.rows, now: this.now });
  }

  /** Looks and acts until nothing is left to do. */
  reconcile(): void {
    for (let round = 0; round < 4; round += 1) {
      const { wanted, superfluous } = this.plan();
      if (wanted.length + superfluous.length === 0) return;
      const gone = new Set(superfluous.map(({ documentId }) => documentId));
      this.rows = this.rows.filter(({ id }) => !gone.has(id));
      for (const { source, sourceRevision: revision, content = '' } of wanted) {
        if (this.rows.some((row) => row.revision === revision)) throw new Error('the same state of a source twice');
        this.#made += 1;
        const row = { source, revision, content, status: 'processing', queued: true, errorCode: null, message: '' } as const;
        this.rows.push({ ...row, id: `doc_${this.#made}`, progressAt: this.now });
      }
    }
    throw new Error('ever new actions');
  }

  /** The worker gets on with what was taken on first. */
  work(outcome: 'begins' | 'completed' | 'empty_document' | 'embedding_failed'): void {
    const row = this.rows.find(({ status }) => status === 'processing');
    if (row === undefined) return;
    const index = this.rows.indexOf(row);
    const at = { progressAt: this.now, queued: false };
    if (outcome === 'begins') this.rows[index] = { ...row, ...at };
    else if (outcome === 'completed') this.rows = [{ ...row, ...at, status: 'completed' }, ...this.rows.slice(index + 1)];
    else this.rows[index] = { ...row, ...at, status: 'failed', errorCode: outcome };
  }

  get served(): Row | undefined {
    return this.rows.findLast(({ status }) => status === 'completed');
  }
}

const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('edit' as const), text: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ do: fc.constant('work' as const), outcome: fc.constantFrom('begins', 'completed', 'empty_document', 'embedding_failed') }),
    fc.record({ do: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 200 }) }),
    fc.record({ do: fc.constant('ask' as const), when: fc.constantFrom('1', '2') }),
    fc.record({ do: fc.constant('reconcile' as const) }),
  ),
  { maxLength: 40 },
);

it('whatever happens: what was once served is served until something newer is, little is kept, and all ends as the spec says', () => {
  fc.assert(
    fc.property(steps, (given) => {
      const simulation = new Simulation();
      simulation.reconcile();
      let served = false;
      for (const step of given) {
        if (step.do === 'edit') simulation.text = step.text;
        else if (step.do === 'work') simulation.work(step.outcome);
        else if (step.do === 'wait') simulation.now += step.minutes * 60_000;
        else if (step.do === 'ask') simulation.requested = step.when;
        // A worker may be a step ahead of the operator.
        if (step.do !== 'work') simulation.reconcile();
        served ||= simulation.served !== undefined;
        expect(simulation.served !== undefined).toBe(served);
        expect(simulation.rows.length).toBeLessThanOrEqual(5);
        expect(simulation.rows.filter(({ status, queued }) => status === 'processing' && !queued).length).toBeLessThanOrEqual(1);
        const shown = simulation.plan().status[0];
        expect(shown?.documentID).toBe(simulation.served?.id);
      }
      for (let round = 0; round < 4; round += 1) {
        simulation.now += 24 * 3_600_000;
        simulation.reconcile();
        simulation.work('completed');
      }
      simulation.reconcile();
      expect(simulation.served?.content).toBe(simulation.text);
      expect(simulation.plan().status).toMatchObject([{ state: 'Completed' }]);
      expect(simulation.rows).toHaveLength(1);
      simulation.present = false;
      simulation.reconcile();
      expect(simulation.rows).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
