/**
 * `ballast/signing`: verifies what owners are asked to sign, says in words what it does, and signs it with viem. It
 * computes everything by itself from the standards; nothing is taken from the service on trust.
 *
 * ```ts
 * import { connect } from "ballast/client"
 * import { enroll } from "ballast/signing"
 *
 * const portfolio = await enroll(ballast, owner, { strategyId, chainIds: [8453] })
 * ```
 */
import type { Address, Hex, TypedDataDefinition } from "viem"
import type { Ballast } from "#client/plain/connect.ts"
import type { DataOf, PayloadOf } from "#client/plain/Call.ts"
import { Altered } from "#client/signing/Altered.ts"
import type { Stage1 } from "#client/signing/stage1.ts"
import { type Expected, verifyAuthorization } from "#client/signing/verifyAuthorization.ts"
import { verifyNativeWithdrawal } from "#client/signing/verifyNativeWithdrawal.ts"
import { verifyWithdrawal, verifyWithdrawalText } from "#client/signing/verifyWithdrawal.ts"

export { Altered } from "#client/signing/Altered.ts"
export type { Stage1 } from "#client/signing/stage1.ts"
export { type Expected, type Verified, verifyAuthorization } from "#client/signing/verifyAuthorization.ts"
export { verifyNativeWithdrawal } from "#client/signing/verifyNativeWithdrawal.ts"
export { type ExpectedWithdrawal, verifyWithdrawal, verifyWithdrawalText } from "#client/signing/verifyWithdrawal.ts"

/** A local account of viem is one; `walletSigner` makes one of a wallet client. */
export interface Signer {
  readonly address: Address
  readonly signMessage: (request: { readonly message: { readonly raw: Hex } }) => Promise<Hex>
  readonly signTypedData: (typedData: TypedDataDefinition) => Promise<Hex>
}

/** The part of a wallet client of viem that is needed here. */
interface Wallet {
  readonly signMessage: (request: {
    readonly account: Address
    readonly message: { readonly raw: Hex }
  }) => Promise<Hex>
  readonly signTypedData: (typedData: TypedDataDefinition & { readonly account: Address }) => Promise<Hex>
}

/** A wallet that a browser holds, for one of its accounts. */
export const walletSigner = (wallet: Wallet, address: Address): Signer => ({
  address,
  signMessage: (request) => wallet.signMessage({ account: address, ...request }),
  signTypedData: (typedData) => wallet.signTypedData({ ...typedData, account: address })
})

const walletId = ({ address }: Pick<Signer, "address">) => `eip155:0:${address}`

/** Verifies and signs the answer of stage 1 of an enrollment, an activation or a renewal. */
export const signAuthorization = async (
  signer: Signer,
  stage1: Stage1,
  expected: Omit<Expected, "ownerAccountId"> & { readonly ownerAccountId?: string }
): Promise<Hex> => {
  verifyAuthorization(stage1, { ownerAccountId: walletId(signer), ...expected })
  const { message } = stage1
  if (message.kind === "solana-message") throw new Altered("message.kind", "is for owners with a Solana key")
  return message.kind === "ecdsa"
    ? signer.signMessage({ message: { raw: message.raw as Hex } })
    : signer.signTypedData(message.typedData as TypedDataDefinition)
}

type EnrollmentDraft = Omit<PayloadOf<"prepareEnrollment">, "ownerAccountId"> & {
  readonly portfolioName?: string
  /** The agent that the owner trusts; compared when given. */
  readonly agentAccountId?: string
}

/** Runs both stages of an enrollment; verifies what stage 1 asks to sign before the owner signs it. */
export const enroll = async (
  ballast: Pick<Ballast, "enrollments">,
  signer: Signer,
  draft: EnrollmentDraft
): Promise<DataOf<"enroll">> => {
  const { agentAccountId: trusted, portfolioName, terms, ...asked } = draft
  const common = { ...asked, ownerAccountId: walletId(signer) }
  const stage1 = await ballast.enrollments.prepare({ ...common, ...(terms === undefined ? {} : { terms }) })
  const { accountIndex, agentAccountId, flowId } = stage1
  const signature = await signAuthorization(signer, stage1, {
    chainIds: draft.chainIds,
    ...(trusted === undefined ? {} : { agentAccountId: trusted })
  })
  return ballast.enrollments.enroll({
    ...common,
    flowId,
    accountIndex,
    agentAccountId,
    signature,
    ...(portfolioName === undefined ? {} : { portfolioName })
  })
}

/** Runs both stages of a withdrawal; verifies what stage 1 asks to sign before the owner signs it. */
export const withdraw = async (
  ballast: Pick<Ballast, "withdrawals">,
  signer: Signer,
  { portfolioId, ...asked }: PayloadOf<"prepareWithdrawal"> & { readonly portfolioId: string }
): Promise<DataOf<"withdraw">> => {
  const issued = await ballast.withdrawals.prepare(portfolioId, asked)
  const { assets, liquidate = false, recipientAccountId } = asked
  if ("authorization" in issued) {
    const { authorization } = issued
    verifyWithdrawalText(authorization, { portfolioId, recipientAccountId, assets })
    if (authorization.kind !== "ecdsa") throw new Altered("authorization.kind", "is for owners with a Solana key")
    const signature = await signer.signMessage({ message: { raw: authorization.raw as Hex } })
    return ballast.withdrawals.withdraw(portfolioId, { message: authorization.message, signature })
  }
  if ("operation" in issued) {
    const { operation } = issued
    verifyNativeWithdrawal(operation, { portfolioId, recipientAccountId, assets })
    if (operation.signed.kind !== "ecdsa") throw new Altered("operation.signed.kind", "is not for owners with a key")
    const signature = await signer.signMessage({ message: { raw: operation.signed.raw as Hex } })
    return ballast.withdrawals.withdraw(portfolioId, { message: operation.message, signature })
  }
  const { typedData } = issued
  verifyWithdrawal(typedData, { portfolioId, recipientAccountId, assets, liquidate })
  const signature = await signer.signTypedData(typedData as unknown as TypedDataDefinition)
  return ballast.withdrawals.withdraw(portfolioId, { message: typedData.message, signature })
}
