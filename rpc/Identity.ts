/** Contract: signing in with a wallet, and the members of a tenant. Source: ERC-4361; docs/decisions/0160. */
import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import * as Errors from "#domain/errors/Errors.ts"
import { Role, SignInWalletId } from "#domain/identity/User.ts"
import { TenantId, UserId } from "#domain/values/Ids.ts"
import { RateTier } from "#domain/request/RateTier.ts"
import { HiddenDefect } from "#rpc/publicProcedure.ts"
import { IsUncounted, PresentedAccess, SessionAccess } from "#rpc/session/SessionAccess.ts"
import { AnswersWithToken, Delivery, TokenAnswer } from "#rpc/session/TokenAnswer.ts"

const defect = HiddenDefect

/** Times are ISO 8601 in UTC. */
const SessionView = Schema.Struct({
  userId: UserId,
  walletId: SignInWalletId,
  tenantId: TenantId,
  role: Role,
  expiresAt: Schema.String,
  ...TokenAnswer.fields
})

const MemberView = Schema.Struct({ userId: UserId, walletId: SignInWalletId, role: Role, joinedAt: Schema.String })

const bounded = (most: number, example: string) =>
  Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(most)).annotate({ examples: [example] })

const ofSignIn = RpcGroup.make(
  Rpc.make("identity.nonce", {
    success: Schema.Struct({ nonce: Schema.String, expiresAt: Schema.String }),
    defect
  }),
  Rpc.make("identity.signIn", {
    payload: {
      /** The whole text that the wallet signed, at most 4,000 characters. */
      message: bounded(4_000, "app.example.com wants you to sign in with your Ethereum account:..."),
      signature: bounded(8_194, `0x${"5f".repeat(65)}`),
      tenantId: Schema.optionalKey(TenantId),
      /** `bearer` when left out; `cookie` on the interface's wire, and not for pages of other origins. */
      delivery: Schema.optionalKey(Delivery)
    },
    success: SessionView,
    error: Schema.Union([
      Errors.SignInRefused,
      Errors.ValidationFailed,
      Errors.PermissionDenied,
      Errors.TenantDisabled,
      Errors.VerifierUnavailable
    ]),
    defect
  }).annotate(AnswersWithToken, true)
)

const ofSession = RpcGroup.make(
  // Call it once a day at least: the answer has another token when the one that was sent should be replaced.
  Rpc.make("identity.session", { success: SessionView, defect }).annotate(RateTier, "global"),
  // Counted by its address alone: a session at its limit can be ended.
  Rpc.make("identity.signOut", { success: TokenAnswer, defect })
    .annotate(AnswersWithToken, true)
    .annotate(IsUncounted, true)
).middleware(PresentedAccess)

const ofMembers = RpcGroup.make(
  Rpc.make("identity.invite", {
    payload: { walletId: SignInWalletId, role: Role },
    success: MemberView,
    error: Schema.Union([Errors.PermissionDenied, Errors.ValidationFailed]),
    defect
  }),
  Rpc.make("identity.members", { success: Schema.Struct({ members: Schema.Array(MemberView) }), defect }),
  Rpc.make("identity.removeMember", {
    payload: { userId: UserId },
    success: Schema.Struct({ userId: UserId, removed: Schema.Literal(true) }),
    error: Schema.Union([Errors.PermissionDenied, Errors.NotFound, Errors.ValidationFailed]),
    defect
  })
).middleware(SessionAccess)

export const IdentityProcedures = ofSignIn.merge(ofSession, ofMembers)
