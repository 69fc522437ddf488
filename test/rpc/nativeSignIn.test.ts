/** The whole way of the README over Effect's RPC and a socket: nonce, signature, session, key. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { makeProcedures } from "#rpc/client.ts"
import { listening } from "#test/rpc/support/listening.ts"
import { makeSignInApi, newWallet, SignInApi } from "#test/rpc/support/SignInApi.ts"

layer(makeSignInApi(), { excludeTestServices: true })("Effect's RPC", (it) => {
  it.effect("signs a wallet in and lets it make a key that the service accepts; a token that is none is refused", () =>
    Effect.gen(function* () {
      const { handle, messageOf } = yield* SignInApi
      const baseUrl = yield* listening(handle)
      const wallet = newWallet()
      const anybody = yield* makeProcedures({ baseUrl })
      const { nonce } = yield* anybody("identity.nonce", undefined)
      const message = yield* messageOf(wallet, { nonce })
      const signature = yield* Effect.promise(() => wallet.signMessage({ message }))
      const { tenantId, token } = yield* anybody("identity.signIn", { message, signature })
      const owner = yield* makeProcedures({ baseUrl, token: Redacted.make(token!) })
      const { apiKey } = yield* owner("apiKeys.create", { name: "server", scopes: [] })
      assert.strictEqual((yield* (yield* ApiKeys).authenticate(apiKey)).tenantId, tenantId)
      assert.strictEqual((yield* Effect.flip(anybody("apiKeys.list", undefined)))._tag, "SessionInvalid")
      const guess = yield* makeProcedures({ baseUrl, token: Redacted.make("bs_guess") })
      assert.strictEqual((yield* Effect.flip(guess("identity.session", undefined)))._tag, "SessionInvalid")
      const again = yield* Effect.flip(anybody("identity.signIn", { message, signature }))
      assert.strictEqual(again._tag, "SignInRefused")
    })
  )
})
