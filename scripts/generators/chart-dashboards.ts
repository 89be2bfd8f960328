import type { GeneratedFile } from '../../crds/generate.ts';
import { type Dashboard, dashboards } from './chart-dashboard-panels.ts';

const source = { type: 'prometheus', uid: '${datasource}' };

/** Makes dashboards of Grafana, which the chart puts into ConfigMaps. */
export function generateDashboards(): readonly GeneratedFile[] {
  return dashboards.map((dashboard) => ({
    path: `charts/parley/generated/dashboards/${dashboard.name}.json`,
    content: `${JSON.stringify(jsonOf(dashboard), null, 2)}\n`,
  }));
}

function jsonOf({ name, title, about, panels }: Dashboard): unknown {
  let x = 0;
  let y = 0;
  const placed = panels.map((panel, index) => {
    const w = panel.stat === true ? 6 : 12;
    const h = panel.stat === true ? 4 : 8;
    if (x + w > 24) x = 0;
    const gridPos = { h, w, x, y };
    x += w;
    if (x >= 24) {
      x = 0;
      y += h;
    }
    return {
      id: index + 1,
      type: panel.stat === true ? 'stat' : 'timeseries',
      title: panel.title,
      description: panel.about,
      datasource: source,
      gridPos,
      fieldConfig: { defaults: { unit: panel.unit ?? 'short', min: 0 }, overrides: [] },
      targets: panel.lines.map(([expr, legendFormat], line) => ({
        refId: String.fromCharCode(65 + line),
        datasource: source,
        expr,
        legendFormat,
      })),
    };
  });
  return {
    uid: `parley-${name}`,
    title,
    description: about,
    tags: ['parley'],
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
    panels: placed,
  };
}
