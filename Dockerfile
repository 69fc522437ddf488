# Every program of a deployment: the API by default, `node src/StreamWorker.ts`, `node src/PriceAttestor.ts` and
# `node src/Cli.ts` as another command. It runs as a user without rights, and writes nowhere but into DATA_DIR.
FROM node:24.21.0-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY layers/solana/no-subscriptions layers/solana/no-subscriptions
COPY layers/solana/plain-bigints layers/solana/plain-bigints
# What is optional speeds up what a service does not do, or is for the sandbox.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24.21.0-slim
ENV NODE_ENV=production
ENV HOST=0.0.0.0
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json package.json
COPY deploy/chains deploy/chains
COPY domain domain
COPY http http
COPY layers layers
COPY migrations migrations
COPY rpc rpc
COPY src src
COPY stream stream
# The user `node` of the image, by number, so that a cluster can tell that it is not root.
USER 1000:1000
EXPOSE 3000 3001 3002
# A young generation of 64 MB (docs/decisions/0253-young-generation.md); the other programs need none.
CMD ["node", "--max-semi-space-size=64", "src/Api.ts"]
