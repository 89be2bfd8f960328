import { expect, it } from 'vitest';

import { Metrics } from '../harness/prometheus.ts';
import { countWrites } from './write-counts.ts';

const scrape = (factor: number): Metrics =>
  Metrics.parse(
    [
      ['group="parley.dev",resource="agents",subresource="status",verb="APPLY",code="200"', 2],
      ['group="parley.dev",resource="tools",subresource="status",verb="APPLY",code="409"', 1],
      ['group="parley.dev",resource="agents",subresource="",verb="APPLY",code="200"', 50],
      ['group="parley.dev",resource="agents",subresource="",verb="PATCH",code="200"', 4],
      ['group="parley.dev",resource="agents",subresource="",verb="GET",code="200"', 70],
      ['group="events.k8s.io",resource="events",subresource="",verb="POST",code="201"', 5],
      ['group="coordination.k8s.io",resource="leases",subresource="",verb="PUT",code="200"', 6],
      ['group="",resource="secrets",subresource="",verb="APPLY",code="200"', 7],
      ['group="",resource="secrets",subresource="",verb="WATCH",code="200"', 70],
    ]
      .map(([labels, value]) => `apiserver_request_total{${String(labels)}} ${Number(value) * factor}`)
      .join('\n'),
  );

it('counts what changed between two scrapes, by what it changed, and no reads', () => {
  expect(countWrites(scrape(3), scrape(2))).toEqual({ status: 3, finalizers: 4, events: 5, leases: 6, secretsAndConfigMaps: 7 });
});
