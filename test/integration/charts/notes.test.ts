/** Helm prints commands at the end of an installation that can be run as they stand. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { chart, find, render, withValues } from './helm.ts';

/** Returns the notes, which `helm template` leaves out; an object whose text they are brings them along. */
async function notes(values: object = {}): Promise<string> {
  const template = await readFile(join(chart, 'templates/NOTES.txt'), 'utf8');
  const object = `{{- define "notes" }}${template}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: notes}
data:
  text: {{ include "notes" . | toJson }}
`;
  return find(await render(withValues({ extraObjects: [object] }, values)), 'ConfigMap', 'notes')['data'].text as string;
}

describe('the notes', () => {
  it('say how to wait, make a key and ask', async () => {
    const text = await notes({ organizations: ['globex'] });
    for (const command of [
      'helm test parley',
      'exec deploy/parley-api -- parley keys create --org globex',
      'port-forward service/parley-api',
    ])
      expect(text).toContain(command);
    expect(text).not.toContain('no organisation yet');
    expect(await notes()).toContain('--reset-then-reuse-values --set organizations={acme}');
  });

  it('name nothing that is switched off', async () => {
    const text = await notes({ api: { enabled: false }, tests: { enabled: false } });
    for (const absent of ['helm test', 'parley-api', 'port-forward']) expect(text).not.toContain(absent);
    expect(text).toContain('wait deployment --selector app.kubernetes.io/instance=parley');
  });

  it('say that addresses of recordings need the public address', async () => {
    expect(await notes()).toContain('config.PARLEY_PUBLIC_URL is not set');
    expect(await notes({ config: { PARLEY_PUBLIC_URL: 'https://parley.example.com' } })).not.toContain('PARLEY_PUBLIC_URL');
    expect(await notes({ voice: { enabled: false } })).not.toContain('PARLEY_PUBLIC_URL');
  });

  it('warn of calls that would be cut off', async () => {
    expect(await notes({ voice: { terminationGracePeriodSeconds: 30 } })).toContain('a voice pod waits up to 7265 s for its calls');
    expect(await notes({ voice: { terminationGracePeriodSeconds: 30, config: { PARLEY_VOICE_DRAIN_MS: 20_000 } } })).not.toContain(
      'WARNING',
    );
    expect(await notes()).not.toContain('WARNING');
  });
});
