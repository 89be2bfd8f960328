import type { GeneratedFile } from '../../crds/generate.ts';
import { alertsOf } from './chart-alerts.ts';
import { dashboards } from './chart-dashboard-panels.ts';
import type { Dashboard, Panel, Row } from './chart-dashboard-queries.ts';

const TAG = 'parley';
const source = { type: 'prometheus', uid: '${datasource}' };

/** Makes dashboards of Grafana, which the chart puts into ConfigMaps. */
export function generateDashboards(): readonly GeneratedFile[] {
  return dashboards.map((dashboard) => ({
    path: `charts/parley/generated/dashboards/${dashboard.name}.json`,
    content: `${JSON.stringify(jsonOf(dashboard), null, 2)}\n`,
  }));
}

/** The template of the chart puts the address of the page with the runbooks in this place, or leaves the links out where there is none. */
const RUNBOOKS = '$RUNBOOKS';

/** Links lead to the other dashboards, with the release and the time that are looked at. */
const others = {
  type: 'dashboards',
  title: 'Parley',
  tags: [TAG],
  asDropdown: false,
  includeVars: true,
  keepTime: true,
  targetBlank: false,
};

const WIDTH = 24;

/** Places rows below each other, and the panels of each from left to right. */
function place(rows: readonly Row[]): readonly object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    placed.push({ id: placed.length + 1, type: 'row', title, collapsed: false, gridPos: { h: 1, w: WIDTH, x: 0, y }, panels: [] });
    let [x, height] = [0, 0];
    y += 1;
    for (const panel of panels) {
      const [w, h] = panel.stat === true ? [6, 4] : [12, 8];
      if (x + w > WIDTH) [x, y, height] = [0, y + height, 0];
      placed.push({ id: placed.length + 1, gridPos: { h, w, x, y }, ...panelJson(panel) });
      [x, height] = [x + w, Math.max(height, h)];
    }
    y += height;
  }
  return placed;
}

function panelJson(panel: Panel): object {
  const links = alertsOf(panel).map(({ alert }) => ({
    title: `Runbook of ${alert}`,
    url: `${RUNBOOKS}#${alert.toLowerCase()}`,
    targetBlank: true,
  }));
  return {
    type: panel.stat === true ? 'stat' : 'timeseries',
    title: panel.title,
    description: panel.about,
    datasource: source,
    fieldConfig: { defaults: { unit: panel.unit ?? 'short', min: 0 }, overrides: [] },
    targets: panel.lines.map(([expr, legendFormat], line) => ({
      refId: String.fromCharCode(65 + line),
      datasource: source,
      expr,
      legendFormat,
    })),
    ...(links.length > 0 && { links }),
  };
}

function jsonOf({ name, title, about, rows }: Dashboard): unknown {
  return {
    uid: `parley-${name}`,
    title,
    description: about,
    tags: [TAG],
    links: [others],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Source' },
        {
          name: 'namespace',
          type: 'query',
          label: 'Namespace',
          datasource: source,
          query: { query: 'label_values(parley_build_info, namespace)', refId: 'namespace' },
          refresh: 2,
        },
        {
          name: 'release',
          type: 'query',
          label: 'Release',
          datasource: source,
          query: { query: 'label_values(parley_build_info{namespace="$namespace"}, job)', refId: 'release' },
          regex: '/^(.*)-(?:operator|api|worker|dispatcher|voice)$/',
          refresh: 2,
        },
      ],
    },
    panels: place(rows),
  };
}
