import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { hashMessage, type Hex, keccak256, parseSignature, recoverAddress, serializeTransaction, toHex } from "viem"
import { entryPoint07Address } from "viem/account-abstraction"
import { sign } from "viem/accounts"
import type { ChainId, AccountId, EvmAddress } from "#domain/values/Caip.ts"
import type { SigningContext } from "#domain/relay/Signer.ts"
import { localSigner } from "#layers/evm/signer/localSigner.ts"
import { remoteSigner } from "#layers/evm/signer/remoteSigner.ts"
import { signerServer } from "#test/support/signerServer.ts"

const key = keccak256(toHex("remote key"))
const otherKey = keccak256(toHex("another key"))
const token = "token-of-the-signer-0123456789"
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const userOpHash = keccak256(toHex("operation"))
const operation: SigningContext = {
  kind: "userOperation",
  chainId: 8453 as ChainId,
  accountId: "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7" as AccountId,
  userOpHash
}
const digest = hashMessage({ raw: userOpHash })

const transaction = (to: Hex, value = 0n) => {
  const unsigned = serializeTransaction({ type: "eip1559", chainId: 8453, nonce: 1, to, value, gas: 21_000n })
  return { digest: keccak256(unsigned), context: { kind: "transaction", chainId: 8453 as ChainId, unsigned } as const }
}

const setUp = Effect.gen(function* () {
  const server = yield* signerServer({ key, keyId: "ballast", token })
  const config = {
    kind: "remote",
    url: server.url,
    keyId: "ballast",
    token: Redacted.make(token),
    address: server.address as string as EvmAddress
  } as const
  const signerWith = (changes: Partial<typeof config> = {}) =>
    Effect.provide(remoteSigner({ ...config, ...changes }), FetchHttpClient.layer)
  return { server, signerWith, signer: yield* signerWith() }
})

const reasonOf = <A, R>(effect: Effect.Effect<A, { readonly reason: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

describe("a signer behind a service", () => {
  it.effect("signs what a local key would, and gets a description of what it signs", () =>
    Effect.gen(function* () {
      const { server, signer } = yield* setUp
      const local = localSigner(Redacted.make(key as string))
      assert.strictEqual(signer.address, local.address)
      assert.strictEqual(yield* signer.sign(digest, operation), yield* local.sign(digest, operation))
      const call = transaction(entryPoint07Address)
      const signature = yield* signer.sign(call.digest, call.context)
      assert.strictEqual(signature, yield* local.sign(call.digest, call.context))
      const signedBy = yield* Effect.promise(() => recoverAddress({ hash: call.digest, signature: signature as Hex }))
      assert.strictEqual(signedBy, server.address)
      assert.deepStrictEqual(server.requests[1], { keyId: "ballast", digest: call.digest, context: call.context })
    })
  )

  it.effect("refuses by its own rules, and says why", () =>
    Effect.gen(function* () {
      const { signer } = yield* setUp
      const elsewhere = transaction("0x52908400098527886E0F7030069857D2E4169EE7")
      assert.include(yield* reasonOf(signer.sign(elsewhere.digest, elsewhere.context)), "only the EntryPoint")
      const paying = transaction(entryPoint07Address, 1n)
      assert.include(yield* reasonOf(signer.sign(paying.digest, paying.context)), "no value may be sent")
      assert.include(yield* reasonOf(signer.sign(paying.digest, operation)), "not the operation's")
    })
  )

  it.effect("is accepted only for the configured key", () =>
    Effect.gen(function* () {
      const { server, signer, signerWith } = yield* setUp
      const theirs = yield* Effect.promise(() => sign({ hash: digest, privateKey: otherKey, to: "hex" }))
      for (const signature of [theirs, `0x${"00".repeat(65)}`, `0x${"ff".repeat(65)}`]) {
        server.answer = () => ({ status: 200, body: JSON.stringify({ signature }) })
        assert.include(yield* reasonOf(signer.sign(digest, operation)), "not that of the configured key")
      }
      server.answer = undefined
      const mistaken = yield* signerWith({ address: "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress })
      assert.include(yield* reasonOf(mistaken.sign(digest, operation)), "not that of the configured key")
    })
  )

  it.effect("may answer either of two equal signatures; the chain gets the lower one", () =>
    Effect.gen(function* () {
      const { server, signer } = yield* setUp
      const lower = yield* signer.sign(digest, operation)
      server.answer = (signature) => {
        const { r, s, yParity } = parseSignature(signature)
        const high = (order - BigInt(s)).toString(16).padStart(64, "0")
        return { status: 200, body: JSON.stringify({ signature: `${r}${high}${yParity === 0 ? "1c" : "1b"}` }) }
      }
      assert.strictEqual(yield* signer.sign(digest, operation), lower)
    })
  )

  it.effect("fails with a reason when it is down, unreadable, redirects or does not know us", () =>
    Effect.gen(function* () {
      const { server, signer, signerWith } = yield* setUp
      const cases = [
        [{ status: 503, body: "" }, "status 503"],
        [{ status: 200, body: "<html>" }, "not readable"],
        [{ status: 200, body: `{"signature":"0x12"}` }, "not readable"],
        [{ status: 403, body: "no" }, "no reason given"]
      ] as const
      for (const [answer, reason] of cases) {
        server.answer = () => answer
        assert.include(yield* reasonOf(signer.sign(digest, operation)), reason)
      }
      const stranger = yield* signerWith({ token: Redacted.make("somebody else's token") })
      assert.include(yield* reasonOf(stranger.sign(digest, operation)), "status 401")
      const nowhere = yield* signerWith({ url: "http://127.0.0.1:1/sign" })
      assert.include(yield* reasonOf(nowhere.sign(digest, operation)), "cannot be reached")
    })
  )

  it.effect("shows neither key nor token, whatever goes wrong", () =>
    Effect.gen(function* () {
      const { server, signer, signerWith } = yield* setUp
      const written: Array<string> = []
      server.answer = () => ({ status: 500, body: token })
      const nowhere = yield* signerWith({ url: "http://127.0.0.1:1/sign" })
      for (const one of [signer, nowhere]) {
        const error = yield* Effect.flip(one.sign(digest, operation))
        yield* Effect.logError("failed", error, { signer: one }).pipe(
          Effect.provide(
            Logger.layer([
              Logger.map(Logger.formatJson, (line) => {
                written.push(line)
              })
            ])
          )
        )
        written.push(error.message, JSON.stringify(error), String(error.stack))
      }
      const local = localSigner(Redacted.make(key as string))
      written.push(JSON.stringify(local), String(local.sign), JSON.stringify({ key: Redacted.make(key as string) }))
      const text = written.join("\n").toLowerCase()
      for (const hidden of [key.slice(2), token]) assert.notInclude(text, hidden.toLowerCase())
    })
  )
})
