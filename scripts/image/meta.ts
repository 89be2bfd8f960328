import { IMAGE_LICENCES } from './licence-list.ts';
import type { ImageMeta, WritableFolder } from './oci.ts';
import { APP_FOLDER } from './stage.ts';

/** Id of the user that the image runs as, and of its group. */
const USER = 65_532;

/**
 * A container without mounts may write to these folders, and a new volume takes them over: Docker gives it the owner and the mode of the
 * folder that it is mounted on.
 */
export const writableFolders: readonly WritableFolder[] = [
  { path: 'tmp', mode: '1777', owner: 0 },
  { path: 'var/lib/parley', mode: '0750', owner: USER },
];

/** Says how the image is run. The Dockerfile says the same, which a test compares. */
export function imageMeta({
  version,
  architecture,
}: {
  readonly version: string;
  readonly architecture: ImageMeta['architecture'];
}): ImageMeta {
  return {
    user: `${USER}:${USER}`,
    // tini is process 1: it hands SIGTERM on, and reaps what the processes of parsers and calls leave behind.
    entrypoint: ['/usr/bin/tini', '--', '/usr/local/bin/node', `/${APP_FOLDER}/dist/parley.mjs`],
    environment: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      NODE_ENV: 'production',
      HOME: '/tmp',
      PARLEY_HOST: '0.0.0.0',
      SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt',
    },
    labels: {
      'org.opencontainers.image.title': 'Parley',
      'org.opencontainers.image.description': 'A voice-agent platform whose configuration is Kubernetes resources',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': IMAGE_LICENCES,
    },
    architecture,
  };
}
