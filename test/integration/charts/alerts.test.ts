/** Tests alerts and dashboards as the chart renders them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { find, ofKind, render, withValues } from './helm.ts';

describe('alerts and dashboards', () => {
  it('ask for metrics that there are', async () => {
    const reference = await readFile(join(repositoryRoot(), 'docs/reference/metrics.md'), 'utf8');
    const manifests = await render(withValues({ metrics: { prometheusRule: { enabled: true }, dashboards: { enabled: true } } }));
    const text = JSON.stringify([
      ...ofKind(manifests, 'PrometheusRule'),
      ...ofKind(manifests, 'ConfigMap').map(({ data }) => data as unknown),
    ]);
    const names = new Set(
      text.match(
        /\b(parley|gen_ai_client|controller_runtime|workqueue|informer|reflector|leader_election|rest_client|http_request|http_requests)_[a-z_]+\b/g,
      ) ?? [],
    );
    expect(names.size).toBeGreaterThan(25);
    expect([...names].filter((name) => name.startsWith('gen_ai_client')).length).toBeGreaterThan(3);
    for (const name of names) {
      // parley_build_info and Node.js's own metrics are everywhere, and have no row.
      if (name === 'parley_build_info') continue;
      expect(reference, name).toContain(`| \`${name.replace(/_(bucket|count|sum)$/, '')}\` |`);
    }
  });

  it('go by the names of this release, and have a runbook each', async () => {
    const values = withValues({
      metrics: { prometheusRule: { enabled: true, runbookURL: 'https://docs.example.com/alerts', disabled: ['ParleyDown'] } },
    });
    const [rule] = ofKind(await render(values, { release: 'phone', namespace: 'telephony' }), 'PrometheusRule');
    const rules = rule?.['spec'].groups[0].rules as { alert: string; expr: string; annotations: Record<string, string> }[];
    const page = await readFile(join(repositoryRoot(), 'docs/reference/alerts.md'), 'utf8');
    expect(rules.map(({ alert }) => alert)).not.toContain('ParleyDown');
    expect(rules.length).toBeGreaterThan(10);
    for (const { alert, expr, annotations } of rules) {
      expect(expr).not.toContain('$');
      expect(expr).toContain('namespace="telephony"');
      expect(page).toContain(`\n## ${alert}\n`);
      expect(annotations['runbook_url']).toBe(`https://docs.example.com/alerts#${alert.toLowerCase()}`);
    }
  });
});

describe('a PodMonitor', () => {
  it('calls the roles as a ServiceMonitor does, and takes more relabelings', async () => {
    const relabelings = [{ targetLabel: 'cluster', replacement: 'one' }];
    const manifests = await render(withValues({ metrics: { podMonitor: { enabled: true, relabelings } } }));
    const { spec } = find(manifests, 'PodMonitor', 'parley-operator') as unknown as {
      spec: { podMetricsEndpoints: { relabelings: object[] }[] };
    };
    expect(spec.podMetricsEndpoints[0]?.relabelings).toEqual([{ targetLabel: 'job', replacement: 'parley-operator' }, ...relabelings]);
  });
});

interface Dashboard {
  readonly uid: string;
  readonly tags: readonly string[];
  readonly links: readonly {
    readonly type: string;
    readonly tags: readonly string[];
    readonly includeVars: boolean;
    readonly keepTime: boolean;
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly regex?: string }[] };
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly description?: string;
    readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
    readonly targets?: readonly { readonly expr: string }[];
    readonly links?: readonly { readonly url: string }[];
  }[];
}

async function dashboardsOf(...values: readonly object[]): Promise<readonly Dashboard[]> {
  const manifests = await render(withValues({ metrics: { dashboards: { enabled: true } } }, ...values));
  return ofKind(manifests, 'ConfigMap').flatMap(({ data }) =>
    Object.values(data as Record<string, string>).map((text) => JSON.parse(text) as Dashboard),
  );
}

describe('dashboards', () => {
  it('say of every panel what it shows, and count the roles of one release alone', async () => {
    const dashboards = await dashboardsOf();
    const panels = dashboards.flatMap((dashboard) => dashboard.panels).filter(({ type }) => type !== 'row');
    expect(panels.length).toBeGreaterThan(40);
    expect(panels.filter(({ description = '' }) => description.length < 20).map(({ title }) => title)).toEqual([]);
    const selectors = panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => expr.match(/\{[^}]*\}/g) ?? []));
    expect(selectors.length).toBeGreaterThanOrEqual(panels.length);
    for (const selector of selectors) expect(selector).toMatch(/^\{namespace="\$namespace",job=~?"\$release-/);
    for (const { templating } of dashboards) {
      const { regex = '' } = templating.list.find(({ name }) => name === 'release') ?? {};
      expect(new RegExp(regex.slice(1, -1)).exec('phone-parley-voice')?.[1]).toBe('phone-parley');
    }
  });

  it('stand in rows that begin each dashboard, and nothing overlaps', async () => {
    for (const { uid, panels } of await dashboardsOf()) {
      expect(panels[0]?.type, uid).toBe('row');
      expect(new Set(panels.map(({ id }) => id)).size, uid).toBe(panels.length);
      const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
        Array.from({ length: h * w }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
      );
      expect(new Set(cells).size, uid).toBe(cells.length);
      expect(Math.max(...panels.map(({ gridPos: { w, x } }) => x + w)), uid).toBe(24);
    }
  });

  it('lead to each other, and to the runbook of each alert where the chart knows the page', async () => {
    const dashboards = await dashboardsOf({ metrics: { prometheusRule: { runbookURL: 'https://docs.example.com/alerts' } } });
    expect(dashboards.length).toBeGreaterThan(4);
    for (const { tags, links } of dashboards) {
      expect(links).toHaveLength(1);
      expect(links[0]).toMatchObject({ type: 'dashboards', includeVars: true, keepTime: true });
      for (const tag of links[0]?.tags ?? []) expect(tags).toContain(tag);
    }
    const page = await readFile(join(repositoryRoot(), 'docs/reference/alerts.md'), 'utf8');
    const runbooks = [...page.matchAll(/^## (\w+)$/gm)].map(([, name = '']) => `https://docs.example.com/alerts#${name.toLowerCase()}`);
    const linked = dashboards.flatMap(({ panels }) => panels.flatMap(({ links = [] }) => links.map(({ url }) => url)));
    expect([...new Set(linked)].toSorted()).toEqual(runbooks.toSorted());
    expect((await dashboardsOf()).flatMap(({ panels }) => panels.flatMap(({ links = [] }) => links))).toEqual([]);
  });

  it('of two releases of one name get along in one namespace', async () => {
    const names = async (namespace: string): Promise<readonly string[]> => {
      const values = withValues({ metrics: { dashboards: { enabled: true, namespace: 'monitoring' } } });
      return ofKind(await render(values, { namespace }), 'ConfigMap').map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    };
    const [one, other] = [await names('one'), await names('other')];
    expect(one).toContain('monitoring/one-parley-dashboard-api');
    expect(one.filter((name) => other.includes(name))).toEqual([]);
    const own = await render(withValues({ metrics: { dashboards: { enabled: true } } }));
    expect(ofKind(own, 'ConfigMap').map(({ metadata }) => metadata.name)).toContain('parley-dashboard-api');
  });
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

async function rulesOf(...values: readonly object[]): Promise<readonly Rule[]> {
  const manifests = await render(withValues({ metrics: { prometheusRule: { enabled: true } } }, ...values));
  return ofKind(manifests, 'PrometheusRule').flatMap(({ spec }) =>
    (spec as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules),
  );
}

describe('an alert', () => {
  it('fires for each role that runs and has no pods', async () => {
    const missing = async (values: object): Promise<readonly (string | undefined)[]> =>
      (await rulesOf({ metrics: { serviceMonitor: { enabled: true } } }, values))
        .filter(({ alert }) => alert === 'ParleyRoleMissing')
        .map(({ expr }) => /job="parley-(\w+)"/.exec(expr)?.[1]);
    expect(await missing({})).toEqual(['operator', 'api', 'worker', 'dispatcher', 'voice']);
    expect(await missing({ voice: { enabled: false }, dispatcher: { replicas: 0 }, api: { replicas: 0 } })).toEqual([
      'operator',
      'api',
      'worker',
    ]);
    expect((await rulesOf()).filter(({ alert }) => alert === 'ParleyRoleMissing')).toEqual([]);
  });

  it('on requests leaves out what the kubelet and Prometheus ask', async () => {
    const rules = (await rulesOf()).filter(({ expr }) => expr.includes('http_request'));
    expect(rules.map(({ alert }) => alert)).toEqual(['ParleyApiErrors', 'ParleyApiSlow']);
    for (const { expr } of rules)
      for (const [, selector] of expr.matchAll(/http_request\w+\{([^}]*)\}/g))
        expect(selector).toContain('route!~"/healthz|/readyz|/metrics"');
  });

  it('on lost calls counts those that api has found, too, and no browser tab that was closed', async () => {
    const rule = (await rulesOf()).find(({ alert }) => alert === 'ParleyCallsLost');
    expect(rule?.expr).toMatch(/parley_calls_reaped_total\{[^}]*job="parley-worker",reason!="user_connection_failure"\}/);
    expect(rule?.expr).toMatch(/parley_calls_lost_total\{[^}]*job="parley-api"\}/);
  });
});
