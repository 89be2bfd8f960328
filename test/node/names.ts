/** Installs the name service of the node's cluster: a Service at the address that the kubelet gives pods, with one pod behind it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { NAME_SERVICE } from './cluster.ts';
import { IMAGE } from './installation.ts';
import { output } from './output.ts';

/** Resolves when names are answered. @param options.tag tag of the image, which has Node.js */
export async function startNames({
  kubectl,
  tag,
}: {
  readonly kubectl: readonly [string, ...string[]];
  readonly tag: string;
}): Promise<void> {
  const namespace = 'kube-system';
  const name = 'names';
  const labels = { 'k8s-app': 'kube-dns' };
  const script = 'name-server.ts';
  const items = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: [''], resources: ['services'], verbs: ['list'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data: { [script]: readFileSync(join(import.meta.dirname, script), 'utf8') },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kube-dns', namespace },
      spec: {
        clusterIP: NAME_SERVICE,
        selector: labels,
        ports: ['UDP', 'TCP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol })),
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels },
      spec: {
        serviceAccountName: name,
        dnsPolicy: 'Default',
        terminationGracePeriodSeconds: 0,
        securityContext: { runAsNonRoot: true, sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] },
        containers: [
          {
            name,
            image: `${IMAGE}:${tag}`,
            imagePullPolicy: 'Never',
            command: ['node', `/${name}/${script}`],
            env: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt' }],
            readinessProbe: { tcpSocket: { port: 53 }, periodSeconds: 1 },
            volumeMounts: [{ name, mountPath: `/${name}` }],
          },
        ],
        volumes: [{ name, configMap: { name } }],
      },
    },
  ];
  await output([...kubectl, 'apply', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  await output([...kubectl, '-n', namespace, 'wait', `pod/${name}`, '--for=condition=Ready', '--timeout=60s']);
}
