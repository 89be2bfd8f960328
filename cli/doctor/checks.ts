/** Lists every check that `parley doctor` makes. Each has a section of its name in docs/operations/troubleshooting.md. */
export const checks = {
  'node-js': 'Node.js',
  platform: 'platform',
  memory: 'memory',
  folder: 'folder',
  go: 'Go',
  programs: 'programs',
  disk: 'disk',
  ports: 'ports',
  kubeconfig: 'kubeconfig',
  'kubernetes-api': 'Kubernetes API',
  'resource-definitions': 'resource definitions',
  permissions: 'permissions',
  organisations: 'organisations',
  configuration: 'configuration',
  postgres: 'Postgres',
  pgvector: 'pgvector',
  migrations: 'migrations',
  'database-roles': 'database roles',
  'database-connections': 'database connections',
  temporal: 'Temporal',
  'search-attributes': 'search attributes',
  'media-server': 'media server',
  'file-storage': 'file storage',
  'vector-store': 'vector store',
  'name-servers': 'name servers',
  'public-url': 'public address',
  clocks: 'clocks',
} as const;

/** Names in lower case with hyphens: they are anchors of sections, and never change. */
export type CheckId = keyof typeof checks;

export const checkIds = Object.keys(checks) as readonly CheckId[];
