/** Packs a chart as an OCI archive, as `helm push` would store it: https://helm.sh/docs/topics/registries/#helm-chart-manifest. Pure. */
import { createHash } from 'node:crypto';

import { tar } from '../../cli/kubectl/report/tar.ts';

export interface ChartFacts {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

interface Blob {
  readonly mediaType: string;
  readonly content: Buffer;
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const descriptor = ({ mediaType, content }: Blob) => ({ mediaType, digest: `sha256:${sha256(content)}`, size: content.length });

/**
 * @param chart content of Chart.yaml
 * @param archive the chart as `helm package` writes it
 * @param epoch time of the files in the archive, in seconds since 1970
 */
export function ociChart(chart: ChartFacts, archive: Buffer, epoch: number): { readonly archive: Buffer; readonly digest: string } {
  const config: Blob = { mediaType: 'application/vnd.cncf.helm.config.v1+json', content: json(chart) };
  const layer: Blob = { mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', content: archive };
  const manifest: Blob = {
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    content: json({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: descriptor(config),
      layers: [descriptor(layer)],
      annotations: { 'org.opencontainers.image.title': chart.name, 'org.opencontainers.image.version': chart.version },
    }),
  };
  const named = { ...descriptor(manifest), annotations: { 'org.opencontainers.image.ref.name': chart.version } };
  const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests: [named] };
  const files = [
    { path: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }), mode: 0o644 },
    { path: 'index.json', content: json(index), mode: 0o644 },
    ...[config, layer, manifest].map(({ content }) => ({ path: `blobs/sha256/${sha256(content)}`, content, mode: 0o644 })),
  ];
  return { archive: Buffer.from(tar(files, epoch)), digest: named.digest };
}
