import { expect, it } from 'vitest';

import { createRegistry } from './metrics.ts';

it('has the metrics of the process and of the build, each registry its own', async () => {
  const [first, second] = [createRegistry({ role: 'api', version: '1.2.3' }), createRegistry({ role: 'worker', version: '1.2.3' })];
  const text = await first.metrics();
  expect(text).toMatch(/parley_build_info\{version="1\.2\.3",role="api",node="v\d+[^"]*"\} 1/);
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
  expect(await second.metrics()).toContain('role="worker"');
});
