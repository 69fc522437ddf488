/**
 * A user's wallet for those who have none at hand: `GET /wallet` answers its address, `POST /wallet/sign` signs 32
 * bytes as wallets do (EIP-191). It is of this world alone.
 */
import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { readBody, refusalResponse } from "#sandbox/control/answers.ts"
import { derivedSecret } from "#sandbox/process/derivedSecret.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"

const SignBody = Schema.Struct({ raw: Schema.String.check(Schema.isPattern(/^0x[0-9a-f]{64}$/u)) })

export const walletRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { secrets } = yield* (yield* WorldFile).state
    const wallet = privateKeyToAccount(`0x${derivedSecret(secrets.internalToken)("wallet")}`)
    yield* router.add("GET", "/wallet", HttpServerResponse.jsonUnsafe({ address: wallet.address }))
    yield* router.add(
      "POST",
      "/wallet/sign",
      Effect.gen(function* () {
        const { raw } = yield* readBody(SignBody)
        const signature = yield* Effect.promise(() => wallet.signMessage({ message: { raw: raw as Hex } }))
        return HttpServerResponse.jsonUnsafe({ signature })
      }).pipe(Effect.catchTag("ControlRefusal", (refusal) => Effect.succeed(refusalResponse(refusal))))
    )
  })
)
