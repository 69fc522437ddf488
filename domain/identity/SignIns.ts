/** Signing in with a wallet: a nonce, a signed message, a session. Source: ERC-4361. */
import { Context, DateTime, Effect, Layer, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { addressOf } from "#domain/values/Caip.ts"
import {
  PermissionDenied,
  SignInRefused,
  type TenantDisabled,
  type VerifierUnavailable
} from "#domain/errors/Errors.ts"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { type OpenSession, Sessions } from "#domain/identity/Sessions.ts"
import type { UsedNonce } from "#domain/identity/SessionStore.ts"
import { readSignInMessage } from "#domain/identity/siwe/readSignInMessage.ts"
import { signatureFormProblem, signatureProblem, signInProblems } from "#domain/identity/siwe/SignInMessage.ts"
import { makeNonce, readNonce } from "#domain/identity/SignInNonces.ts"
import { SignInSettings } from "#domain/identity/SignInSettings.ts"
import { SignInVerifier } from "#domain/identity/SignInVerifier.ts"
import { type Tenant, tenantDisabled } from "#domain/identity/Tenant.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import type { SignInWalletId } from "#domain/identity/User.ts"
import { UserStore } from "#domain/identity/UserStore.ts"
import { makeTenantId, makeUserId, type TenantId } from "#domain/values/Ids.ts"

export interface SignInRequest {
  /** The text of the message, to the last character as the wallet signed it. */
  readonly message: string
  readonly signature: string
  /** One of the user's tenants; the oldest membership's when left out. */
  readonly tenantId?: TenantId
}

type Refusal = SignInRefused | PermissionDenied | TenantDisabled | VerifierUnavailable

/**
 * Signing in with a wallet.
 *
 * **When to use**
 *
 * Use in the two procedures of a sign-in. Everything afterwards is `Sessions`.
 */
export class SignIns extends Context.Service<
  SignIns,
  {
    /** A nonce for one message, good for ten minutes. */
    readonly nonce: Effect.Effect<UsedNonce>
    /**
     * Opens a session for the signer of the message. The first time makes the wallet a user and gives it a tenant of
     * its own, unless a tenant has invited it.
     */
    readonly signIn: (request: SignInRequest) => Effect.Effect<OpenSession, Refusal>
  }
>()("ballast/domain/identity/SignIns") {
  static readonly layer = Layer.effect(
    SignIns,
    Effect.gen(function* () {
      const users = yield* UserStore
      const tenants = yield* TenantStore
      const sessions = yield* Sessions
      const verifier = yield* SignInVerifier
      const settings = yield* SignInSettings
      const hash = yield* KeyHash
      const random = yield* SecureRandom.SecureRandom
      const provided = <A, E>(effect: Effect.Effect<A, E, SecureRandom.SecureRandom | KeyHash>) =>
        effect.pipe(Effect.provideService(SecureRandom.SecureRandom, random), Effect.provideService(KeyHash, hash))

      /** The memberships of the wallet. A person without one gets a tenant named after the wallet. */
      const enter = Effect.fnUntraced(function* (walletId: SignInWalletId) {
        const createdAt = yield* DateTime.now
        const address = addressOf(walletId)
        const tenant: Tenant = {
          tenantId: yield* makeTenantId,
          name: `${address.slice(0, 6)}...${address.slice(-4)}`,
          email: "",
          entitlements: [],
          createdAt,
          disabledAt: null
        }
        return yield* users.enter({ userId: yield* makeUserId, walletId, createdAt }, tenant)
      }, provided)

      const signIn = Effect.fn("SignIns.signIn")(function* ({ message: text, signature, tenantId }: SignInRequest) {
        const read = readSignInMessage(text)
        if (Result.isFailure(read))
          return yield* new SignInRefused({
            message: "The message is not one that ERC-4361 describes",
            details: [read.failure]
          })
        const message = read.success
        const problems = [
          ...signInProblems(message, { ...settings, now: yield* DateTime.now }),
          ...Option.toArray(Option.fromUndefinedOr(signatureFormProblem(signature)))
        ]
        if (problems.length > 0)
          return yield* new SignInRefused({ message: "The sign-in message is not accepted", details: problems })
        const nonce = yield* provided(readNonce(message.nonce))
        if (nonce === undefined)
          return yield* new SignInRefused({
            message:
              "The nonce is not one of this service, or is older than 10 minutes; ask identity.nonce for another",
            details: ["nonce: unknown or over"]
          })
        const walletId = yield* verifier.signerOf(message, text, signature)
        if (walletId === undefined)
          return yield* new SignInRefused({
            message: `The signature is not ${message.address}'s over this message`,
            details: [signatureProblem(message, signature, settings)]
          })
        const memberships = yield* enter(walletId)
        const member =
          tenantId === undefined ? memberships[0] : memberships.find((membership) => membership.tenantId === tenantId)
        if (member === undefined)
          return yield* new PermissionDenied({ message: `The wallet is no member of the tenant ${tenantId}` })
        const tenant = yield* tenants.findTenant(member.tenantId)
        if (Option.isSome(tenant) && tenant.value.disabledAt !== null) return yield* tenantDisabled()
        const opened = yield* sessions.open(member, nonce, message.expiresAt)
        if (Option.isNone(opened))
          return yield* new SignInRefused({
            message: "The nonce was used before; ask identity.nonce for another and sign again",
            details: ["nonce: used"]
          })
        return opened.value
      })

      return SignIns.of({ nonce: provided(makeNonce), signIn })
    })
  )
}
