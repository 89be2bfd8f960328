# syntax=docker/dockerfile:1
# The image for those who have Docker: `docker build -t parley .`
# `make image` builds the same contents without a container engine (docs/install/image.md).
#
# `node scripts/image/update-bases.ts` asks the registry for the digests of both bases and writes them here, so that a build is of what was
# looked at. Without digests the tags say what is taken.
ARG NODE_IMAGE=node:24-bookworm-slim
ARG DEBIAN_IMAGE=debian:bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# With what is needed to bundle; none of that is copied further. The lockfile's checksums hold.
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund
COPY . .
# The bundle, the packages that it imports at run time, the Node.js of the lockfile: one folder a layer.
RUN PATH="/src/node_modules/.bin:$PATH" node scripts/image/main.ts --stage /out

FROM ${DEBIAN_IMAGE}
# tini is process 1: it hands SIGTERM on and reaps what the processes of parsers and calls leave behind.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates libstdc++6 tini \
  && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
  && groupadd --gid 65532 parley \
  && useradd --uid 65532 --gid 65532 --home-dir /tmp --shell /usr/sbin/nologin --no-create-home parley \
  && install --directory --owner=65532 --group=65532 --mode=0750 /var/lib/parley
COPY --from=build /out/node/ /
COPY --from=build /out/packages/ /
COPY --from=build /out/app/ /
ENV NODE_ENV=production \
    HOME=/tmp \
    PARLEY_HOST=0.0.0.0 \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
LABEL org.opencontainers.image.title="Parley" \
      org.opencontainers.image.description="A voice-agent platform whose configuration is Kubernetes resources" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0 AND LicenseRef-LiveKit-Model AND LGPL-2.1-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1"
WORKDIR /
USER 65532:65532
# It writes to /tmp and, for files and recordings kept in a folder, /var/lib/parley: mount those, and the rest may be read-only.
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/node", "/opt/parley/dist/parley.mjs"]
CMD ["--help"]
