import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { attestorConfig, serviceConfig, streamWorkerConfig } from "#src/Config.ts"
import { complete, key, problemsOf, read } from "#test/src/environments.ts"

describe("the attestor's configuration", () => {
  const attestor = {
    RPC_URL_8453: "https://base.example.com",
    TRADE_GUARD_8453: "0x4200000000000000000000000000000000000006,0x52908400098527886E0F7030069857D2E4169EE7",
    ATTESTOR_PRIVATE_KEY: key("c"),
    ATTESTOR_TOKEN: "token-of-the-attestor-0123456789",
    LIFI_URL: "https://li.quest/v1"
  }

  it.effect("needs chains with guards, a key, a token and a second source of prices", () =>
    Effect.gen(function* () {
      const { chains, port, signers } = yield* read(attestorConfig, attestor)
      assert.strictEqual(port, 3002)
      assert.deepStrictEqual(signers, [{ kind: "local", key: Redacted.make(key("c")) }])
      assert.strictEqual(chains[0]!.guards.length, 2)
      const message = yield* Effect.map(
        Effect.flip(read(attestorConfig, { RPC_URL_8453: "https://b.example" })),
        (e) => e.message
      )
      for (const name of ["TRADE_GUARD_8453", "ATTESTOR_PRIVATE_KEY", "ATTESTOR_TOKEN", "LIFI_URL"])
        assert.include(message, `${name}: is not set`)
      const none = yield* Effect.flip(read(attestorConfig, {}))
      assert.include(none.message, "RPC_URL_<chainId>: no chain is configured")
    })
  )

  it.effect("each program has a name of its own in logs, traces and metrics, unless it is given one", () =>
    Effect.gen(function* () {
      const stream = {
        INTERNAL_TOKEN: complete.INTERNAL_TOKEN,
        STREAM_TICKET_KEYS: `k1:${"a".repeat(64)}`
      }
      const names = Effect.fnUntraced(function* (given: Record<string, string>) {
        const api = yield* read(serviceConfig, { ...complete, ...given })
        const worker = yield* read(streamWorkerConfig, { ...stream, ...given })
        const signing = yield* read(attestorConfig, { ...attestor, ...given })
        return [api, worker, signing].map(({ telemetry }) => telemetry.serviceName)
      })
      assert.deepStrictEqual(yield* names({}), ["ballast-api", "ballast-stream", "ballast-attestor"])
      assert.deepStrictEqual(yield* names({ OTEL_SERVICE_NAME: "mine" }), ["mine", "mine", "mine"])
    })
  )

  it.effect("its key may be behind a remote signer", () =>
    Effect.gen(function* () {
      const { ATTESTOR_PRIVATE_KEY: _, ...others } = attestor
      const { signers } = yield* read(attestorConfig, {
        ...others,
        ATTESTOR_SIGNER_URL: "https://signer.example.com/sign",
        ATTESTOR_SIGNER_KEY_ID: "attestor-1",
        ATTESTOR_SIGNER_TOKEN: "token-of-the-signer",
        ATTESTOR_SIGNER_ADDRESS: "0x4200000000000000000000000000000000000006"
      })
      assert.deepInclude(signers[0], { kind: "remote", keyId: "attestor-1" })
    })
  )

  it.effect("it may have the next key beside its own, wherever that one is kept", () =>
    Effect.gen(function* () {
      const withKey = yield* read(attestorConfig, { ...attestor, ATTESTOR_NEXT_PRIVATE_KEY: key("d") })
      assert.deepStrictEqual(withKey.signers, [
        { kind: "local", key: Redacted.make(key("c")) },
        { kind: "local", key: Redacted.make(key("d")) }
      ])
      const withSigner = yield* read(attestorConfig, {
        ...attestor,
        ATTESTOR_NEXT_SIGNER_URL: "https://signer.example.com/sign",
        ATTESTOR_NEXT_SIGNER_KEY_ID: "attestor-2",
        ATTESTOR_NEXT_SIGNER_TOKEN: "token-of-the-signer",
        ATTESTOR_NEXT_SIGNER_ADDRESS: "0x4200000000000000000000000000000000000006"
      })
      assert.deepInclude(withSigner.signers[1], { kind: "remote", keyId: "attestor-2" })
    })
  )

  it.effect("the service has it nowhere, in its own process, or here with a key that no other part has", () =>
    Effect.gen(function* () {
      const choiceOf = (env: Record<string, string>) =>
        Effect.map(read(serviceConfig, { ...complete, ...env }), (config) => config.attestor)
      assert.deepStrictEqual(yield* choiceOf({}), { kind: "none" })
      const url = { ATTESTOR_URL: "http://attestor:3002", ATTESTOR_TOKEN: attestor.ATTESTOR_TOKEN }
      assert.deepInclude(yield* choiceOf(url), { kind: "process", url: "http://attestor:3002" })
      assert.deepInclude(yield* choiceOf({ ATTESTOR_PRIVATE_KEY: key("c") }), { kind: "here" })
      const { ATTESTOR_URL } = url
      assert.include(yield* problemsOf({ ...complete, ATTESTOR_URL }), "ATTESTOR_TOKEN: is not set")
      const twice = { ...complete, ...url, ATTESTOR_PRIVATE_KEY: key("c") }
      assert.include(yield* problemsOf(twice), "the attestor is named in two places")
      const shared = { ...complete, ATTESTOR_PRIVATE_KEY: key("a") }
      assert.include(yield* problemsOf(shared), "is the key of the agent or of a relayer")
    })
  )
})
