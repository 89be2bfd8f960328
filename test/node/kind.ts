import { IMAGE, NAMESPACE, ORGANIZATION } from './installation.ts';

/** Returns the commands of `make e2e` for kind, for those who have Docker. The servers' addresses are variables of the shell. */
export function kindCommands({ tag }: { readonly tag: string }): string {
  const secret = 'parley-servers';
  const settings = [
    `image.repository=${IMAGE}`,
    `image.tag=${tag}`,
    `organizations='{${ORGANIZATION}}'`,
    `secrets.DATABASE_URL.name=${secret}`,
    'secrets.DATABASE_URL.key=url',
    `secrets.LIVEKIT_API_SECRET.name=${secret}`,
    'secrets.LIVEKIT_API_SECRET.key=livekit',
    ...['TEMPORAL_ADDRESS', 'LIVEKIT_URL', 'LIVEKIT_API_KEY', 'STORAGE_URL'].map((name) => `config.${name}="$${name}"`),
  ];
  const install = `helm install parley charts/parley --namespace ${NAMESPACE} --wait --timeout 120s`;
  return `kind create cluster --name parley
docker build -t ${IMAGE}:${tag} .
kind load docker-image ${IMAGE}:${tag} --name parley
kubectl create namespace ${NAMESPACE}
kubectl label namespace ${NAMESPACE} pod-security.kubernetes.io/enforce=restricted
kubectl -n ${NAMESPACE} create secret generic ${secret} --from-literal=url="$DATABASE_URL" --from-literal=livekit="$LIVEKIT_API_SECRET"
${[install, ...settings.map((setting) => `  --set ${setting}`)].join(' \\\n')}
helm test parley --namespace ${NAMESPACE}
kubectl -n ${ORGANIZATION} apply -f examples/
kubectl -n ${ORGANIZATION} wait agents.parley.dev,ptool,pkb,pwebhook --all --for=condition=Ready --timeout=120s
`;
}
