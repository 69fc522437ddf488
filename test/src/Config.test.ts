import { assert, describe, it } from "@effect/vitest"
import { Keypair } from "@solana/web3.js"
import { Effect, Redacted } from "effect"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Base58 from "#domain/values/Base58.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { cliConfig, serviceConfig } from "#src/Config.ts"
import { secret } from "#src/config/kinds.ts"
import { withSecrets } from "#src/config/secretTexts.ts"
import { optional } from "#src/config/Setting.ts"
import { complete, key, problemsOf, read } from "#test/src/environments.ts"

describe("serviceConfig", () => {
  it.effect("needs only chains, keys and tokens", () =>
    Effect.gen(function* () {
      const config = yield* read(serviceConfig, complete)
      assert.strictEqual(config.server.host, "127.0.0.1")
      assert.strictEqual(config.server.publicUrl, "http://localhost:3000")
      assert.strictEqual(config.evm.chains.length, 1)
      assert.deepStrictEqual(config.evm.chains[0]!.rpcUrls, [
        "https://base.example.com/v1/0123456789abcdef0123",
        "https://other.example.com"
      ])
      assert.strictEqual(config.evm.chains[0]!.connectorTokens.length, 2)
      assert.strictEqual(config.settings.swaps.defaults.thresholdUsd, Decimal.one)
      assert.strictEqual(config.settings.prices.maxAgeMs, 600_000)
      assert.isNull(config.database.url)
      assert.strictEqual(config.webhookTargets, "public")
      assert.isNull(config.telemetry.otlp)
      assert.strictEqual(config.coinGecko.baseUrl, "https://api.coingecko.com/api/v3")
    })
  )

  it.effect("reads what is set", () =>
    Effect.gen(function* () {
      const config = yield* read(serviceConfig, {
        ...complete,
        PORT: "8080",
        PUBLIC_URL: "https://api.example.com/",
        TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8",
        DATABASE_URL: "postgres://user:hunter2hunter2@db/ballast",
        SWAP_THRESHOLD_USD: "2.5",
        SWAP_CONNECTOR_TOKENS_8453: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
        ASSET_BLOCKLIST: "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
        COINGECKO_PLAN: "pro",
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abcdef,x-team=100%",
        OTEL_TRACES_SAMPLER_ARG: "0.25",
        LOG_LEVEL: "Debug",
        WEBHOOK_TARGETS: "loopback"
      })
      assert.strictEqual(config.webhookTargets, "loopback")
      assert.strictEqual(config.server.port, 8080)
      assert.strictEqual(config.server.publicUrl, "https://api.example.com")
      assert.deepStrictEqual(config.server.trustedProxies.map(String), ["10.0.0.0/8", "fd00::/8"])
      assert.strictEqual(config.settings.swaps.defaults.thresholdUsd, 2_500_000_000_000_000_000n)
      assert.deepStrictEqual(
        [...config.settings.blockedAssets],
        ["eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]
      )
      assert.strictEqual(config.coinGecko.baseUrl, "https://pro-api.coingecko.com/api/v3")
      assert.strictEqual(config.telemetry.otlp!.traceRatio, 0.25)
      assert.deepStrictEqual(Redacted.value(config.telemetry.otlp!.headers), {
        authorization: "Bearer abcdef",
        "x-team": "100%"
      })
      const secrets = config.telemetry.secrets.map(Redacted.value)
      assert.includeMembers(secrets, ["hunter2hunter2", "0123456789abcdef0123", key("a"), "Bearer abcdef"])
    })
  )

  it.effect("every value that is read as a secret is blacked out in logs, whatever reads it", () =>
    Effect.gen(function* () {
      const given = {
        ...complete,
        AGENT_PRIVATE_KEY: "",
        AGENT_SIGNER_URL: "https://signer.example.com/sign",
        AGENT_SIGNER_KEY_ID: "agent",
        AGENT_SIGNER_ADDRESS: "0x52908400098527886E0F7030069857D2E4169EE7",
        AGENT_SIGNER_TOKEN: "token-of-the-agents-signer",
        LIFI_URL: "https://proxy:password-of-the-proxy@li.quest/v1",
        LIFI_API_KEY: "key-of-the-integrator",
        COINGECKO_API_KEY: "CG-0123456789",
        REDIS_URL: "redis://:password-of-redis@cache:6379"
      }
      const { telemetry } = yield* read(serviceConfig, given)
      const secrets = telemetry.secrets.map(Redacted.value)
      assert.includeMembers(secrets, [
        given.AGENT_SIGNER_TOKEN,
        given.LIFI_API_KEY,
        given.COINGECKO_API_KEY,
        "password-of-redis",
        // Of a URL that is no secret as a whole.
        "password-of-the-proxy",
        complete.API_KEY_PEPPER,
        complete.ADMIN_TOKEN,
        complete.INTERNAL_TOKEN,
        complete.RELAYER_PRIVATE_KEY,
        complete.RELAYER_PRIVATE_KEY.slice(2)
      ])
    })
  )

  it.effect("a kind of setting that is secret registers itself", () =>
    Effect.gen(function* () {
      const invented = optional("INVENTED_SECRET", secret(/^.+$/u, "anything", "anything"))
      const { secrets } = yield* read(withSecrets(invented), { INVENTED_SECRET: "a-secret-of-tomorrow" })
      assert.deepStrictEqual(secrets.map(Redacted.value), ["a-secret-of-tomorrow"])
    })
  )

  it.effect("lists everything that is missing, at once", () =>
    Effect.gen(function* () {
      const message = yield* problemsOf({})
      for (const name of [
        "RPC_URL_<chainId>",
        "AGENT_PRIVATE_KEY",
        "RELAYER_PRIVATE_KEY",
        "API_KEY_PEPPER",
        "INTERNAL_TOKEN"
      ]) {
        assert.include(message, `\n  - ${name}: `)
      }
      assert.match(message, /^The configuration has 5 problems:/)
    })
  )

  it.effect("shows a malformed value with what was expected, but never a secret one", () =>
    Effect.gen(function* () {
      const secret = "0xnot-a-key-but-secret"
      const message = yield* problemsOf({
        ...complete,
        PORT: "70000",
        AGENT_PRIVATE_KEY: secret,
        RPC_URL_1: `ftp://${secret}`,
        TRUSTED_PROXIES: "yes",
        DATABASE_URL: `mysql://u:${secret}@h/db`
      })
      assert.include(message, 'PORT: is "70000"; expected a whole number from 1 to 65535, for example 3000')
      assert.include(message, "AGENT_PRIVATE_KEY: is malformed")
      assert.include(message, "RPC_URL_1: is malformed")
      assert.include(message, "DATABASE_URL: is malformed")
      assert.include(message, 'TRUSTED_PROXIES: is "yes"; expected')
      assert.notInclude(message, secret)
    })
  )

  it.effect("a chain needs its router, and the relayer a key of its own", () =>
    Effect.gen(function* () {
      const message = yield* problemsOf({ ...complete, RPC_URL_42161: "https://arb.example.com" })
      assert.match(message, /^The configuration has 1 problem:\n {2}- UNISWAP_V2_ROUTER_42161: is not set/)
      assert.include(
        yield* problemsOf({
          ...complete,
          RELAYER_PRIVATE_KEY: complete.AGENT_PRIVATE_KEY.toUpperCase().replace("0X", "0x")
        }),
        "RELAYER_PRIVATE_KEY: is the key of the agent"
      )
    })
  )

  it.effect("a chain's gas ceiling, confirmations and alarm are configured in the units of people", () =>
    Effect.gen(function* () {
      const [byDefault] = (yield* read(serviceConfig, complete)).evm.chains
      assert.deepStrictEqual(
        [byDefault!.confirmations, byDefault!.gasCeiling, byDefault!.lowRelayerFunds, byDefault!.headMaxAgeSeconds],
        [10, 10_000_000_000n, 10_000_000_000_000_000n, 120]
      )
      const [set] = (yield* read(serviceConfig, {
        ...complete,
        CONFIRMATIONS_8453: "3",
        GAS_CEILING_GWEI_8453: "7",
        HEAD_MAX_AGE_SECONDS_8453: "45",
        BUNDLE_GAS_8453: "0",
        RELAYER_LOW_GWEI_8453: "2"
      })).evm.chains
      assert.deepStrictEqual(
        [set!.confirmations, set!.gasCeiling, set!.bundleGas, set!.lowRelayerFunds, set!.headMaxAgeSeconds],
        [3, 7_000_000_000n, 0n, 2_000_000_000n, 45]
      )
      assert.include(yield* problemsOf({ ...complete, CONFIRMATIONS_8453: "0" }), "from 1 to 64")
    })
  )

  it.effect("a chain has its own confirmations and its own gas ceiling, unless the operator says otherwise", () =>
    Effect.gen(function* () {
      const ids = [1, 8453, 42161, 56, 4663]
      const everyChain = Object.fromEntries(
        ids.flatMap((id) => [
          [`RPC_URL_${id}`, `https://chain-${id}.example.com`],
          [`UNISWAP_V2_ROUTER_${id}`, complete.UNISWAP_V2_ROUTER_8453]
        ])
      )
      const { chains } = (yield* read(serviceConfig, { ...complete, ...everyChain, CONFIRMATIONS_56: "3" })).evm
      assert.deepStrictEqual(
        chains.map(({ chainId, confirmations }) => [chainId as number, confirmations]),
        [
          [1, 12],
          [8453, 10],
          [42161, 30],
          [56, 3],
          [4663, 30]
        ]
      )
      const { chains: dear } = (yield* read(serviceConfig, { ...complete, ...everyChain, GAS_CEILING_GWEI_56: "3" }))
        .evm
      assert.deepStrictEqual(
        dear.map(({ headMaxAgeSeconds }) => headMaxAgeSeconds),
        [300, 120, 120, 120, 3_600]
      )
      assert.deepStrictEqual(
        dear.map(({ chainId, gasCeiling }) => [chainId as number, gasCeiling / 1_000_000_000n]),
        [
          [1, 200n],
          [8453, 10n],
          [42161, 10n],
          [56, 3n],
          [4663, 10n]
        ]
      )
    })
  )

  it.effect("a key may be in a file that only its owner can read", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "ballast-keys-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const path = join(folder, "agent.key")
      const { AGENT_PRIVATE_KEY, ...others } = complete
      const env = { ...others, AGENT_KEY_FILE: path }
      assert.include(yield* problemsOf(env), `${path} cannot be read`)
      writeFileSync(path, `${AGENT_PRIVATE_KEY}\n`, { mode: 0o600 })
      const { evm, telemetry } = yield* read(serviceConfig, env)
      assert.deepStrictEqual(evm.agent, { kind: "local", key: Redacted.make(AGENT_PRIVATE_KEY) })
      assert.include(telemetry.secrets.map(Redacted.value), AGENT_PRIVATE_KEY)
      chmodSync(path, 0o640)
      assert.include(yield* problemsOf(env), "may be read by others than its owner (mode 640)")
      writeFileSync(path, "not-a-key-but-secret")
      chmodSync(path, 0o600)
      const message = yield* problemsOf(env)
      assert.include(message, "does not hold a private key")
      assert.notInclude(message, "not-a-key-but-secret")
    })
  )

  it.effect("a Solana chain takes part when it has an endpoint, and then needs the agent's whole key", () =>
    Effect.gen(function* () {
      const { secretKey } = Keypair.generate()
      assert.isNull((yield* read(serviceConfig, complete)).solana)
      const on = { ...complete, SOLANA_RPC_URL: "https://solana.example.com/v1/key" }
      const { solana } = yield* read(serviceConfig, { ...on, SOLANA_AGENT_PRIVATE_KEY: Base58.encode(secretKey) })
      assert.deepStrictEqual(Redacted.value(solana!.agentSeed), secretKey.slice(0, 32))
      assert.deepStrictEqual(solana!.fees, { percentile: 75, maxPriorityLamports: 1_000_000n })
      assert.include(yield* problemsOf(on), "SOLANA_AGENT_PRIVATE_KEY: is not set")
      const foreign = Base58.encode(Uint8Array.from([...secretKey.slice(0, 32), ...new Uint8Array(32)]))
      const problem = yield* problemsOf({ ...on, SOLANA_AGENT_PRIVATE_KEY: foreign })
      assert.include(problem, "SOLANA_AGENT_PRIVATE_KEY: is malformed")
      assert.notInclude(problem, foreign)
    })
  )

  it.effect("several relayer accounts are named together, each by a key of its own", () =>
    Effect.gen(function* () {
      const { RELAYER_PRIVATE_KEY, ...others } = complete
      const env = { ...others, RELAYER_PRIVATE_KEYS: `${key("b")}, ${key("c")}` }
      const { evm, telemetry } = yield* read(serviceConfig, env)
      assert.deepStrictEqual(
        evm.relayers.map((one) => one.kind === "local" && Redacted.value(one.key)),
        [key("b"), key("c")]
      )
      assert.includeMembers(telemetry.secrets.map(Redacted.value), [key("b"), key("c")])
      const twice = { ...others, RELAYER_PRIVATE_KEYS: `${key("b")},${key("b")}` }
      assert.include(yield* problemsOf(twice), "names a key twice")
      assert.include(yield* problemsOf({ ...env, RELAYER_PRIVATE_KEY }), "named in several places")
      const agents = { ...others, RELAYER_PRIVATE_KEYS: `${key("b")},${complete.AGENT_PRIVATE_KEY}` }
      assert.include(yield* problemsOf(agents), "is the key of the agent")
    })
  )

  it.effect("a key may be behind a remote signer, and is in one place only", () =>
    Effect.gen(function* () {
      const { RELAYER_PRIVATE_KEY, ...others } = complete
      const env = { ...others, RELAYER_SIGNER_URL: "https://signer.example.com/sign" }
      const message = yield* problemsOf(env)
      for (const name of ["KEY_ID", "TOKEN", "ADDRESS"]) assert.include(message, `RELAYER_SIGNER_${name}: is not set`)
      const { evm, telemetry } = yield* read(serviceConfig, {
        ...env,
        RELAYER_SIGNER_KEY_ID: "relayer-1",
        RELAYER_SIGNER_TOKEN: "token-of-the-signer",
        RELAYER_SIGNER_ADDRESS: "0x4200000000000000000000000000000000000006"
      })
      assert.deepInclude(evm.relayers[0], { kind: "remote", keyId: "relayer-1" })
      assert.include(telemetry.secrets.map(Redacted.value), "token-of-the-signer")
      assert.include(yield* problemsOf({ ...env, RELAYER_PRIVATE_KEY }), "named in several places")
    })
  )
})

describe("cliConfig", () => {
  it.effect("reads nothing but the database and the way to the service", () =>
    Effect.gen(function* () {
      const config = yield* read(cliConfig, { DATA_DIR: "/tmp/elsewhere" })
      assert.strictEqual(config.database.dataDir, "/tmp/elsewhere")
      assert.isNull(config.adminUrl)
    })
  )
})
