/** The withdrawal executor of simulated chains, and owners' signatures that are hashes of what they sign. */
import { Effect, Layer, Option } from "effect"
import { chainIdOf } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type WithdrawalStatus, WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import { onChain, shownHead } from "#test/simulation/ports/link.ts"
import { lostReceipt, netOf, ownInclusion, receiptOf } from "#test/simulation/ports/receipts.ts"
import { prepareOn } from "#test/simulation/ports/SimulatedBatches.ts"
import { withdrawalKey } from "#test/simulation/world/Accounts.ts"
import type { Chain } from "#test/simulation/world/Chain.ts"
import { digestOf, type Payload, actionHashOf } from "#test/simulation/world/Payload.ts"
import type { World } from "#test/simulation/world/World.ts"

/** The owner's signature. */
export const signatureOf = (message: WithdrawalMessage): string =>
  digestOf(`signed ${message.portfolioId} ${message.nonce} ${JSON.stringify(message.assets)} ${message.expiresAt}`)

const payloadOf = ({ accountId, message }: StoredWithdrawal): Payload => ({
  _tag: "OwnersWithdrawal",
  accountId,
  message
})

const standingOn = (
  chain: Chain,
  withdrawal: StoredWithdrawal,
  confirmed: number
): WithdrawalStatus | ChainUnavailable => {
  const { accountId, message } = withdrawal
  const including = chain.accounts.withdrawn.get(withdrawalKey(accountId, message.nonce))
  if (including === undefined)
    return chain.blockSeconds > message.expiresAt
      ? { _tag: "Closed", reason: "the authorization expired; nothing moved, and nothing can any more" }
      : { _tag: "Open" }
  const found = chain.find(including)
  const part = found?.execution.parts[0]
  return found === undefined || part === undefined || found.block > confirmed
    ? new ChainUnavailable({
        chainId: chain.chainId,
        reason: "it was carried out in a block that is not confirmed yet"
      })
    : {
        _tag: "Landed",
        receipt: {
          ...receiptOf({ inclusion: found, part }, accountId),
          actionHash: actionHashOf(payloadOf(withdrawal))
        }
      }
}

export const simulatedWithdrawals = (world: World) => {
  const orFail = <A>(found: A | ChainUnavailable) =>
    found instanceof ChainUnavailable ? Effect.fail(found) : Effect.succeed(found)
  const confirmedOn = (chain: Chain) => shownHead(world, chain) - chain.confirmations + 1

  const execution = WithdrawalTransactions.of({
    standing: (withdrawal) =>
      Effect.flatMap(
        onChain(world, chainIdOf(withdrawal.accountId), (chain) => standingOn(chain, withdrawal, confirmedOn(chain))),
        orFail
      ),
    prepare: (withdrawal) => prepareOn(world, chainIdOf(withdrawal.accountId), () => payloadOf(withdrawal)),
    find: (transaction, withdrawal) =>
      Effect.flatMap(
        onChain(world, transaction.chainId, (chain) => {
          const confirmed = confirmedOn(chain)
          const nonceUsed = chain.usedNonces(transaction.relayer, confirmed) > transaction.nonce
          const own = ownInclusion(chain, transaction, confirmed)
          if (own === "pending") return Option.none()
          const key = withdrawalKey(withdrawal.accountId, withdrawal.message.nonce)
          const part = own?.execution.parts[0]
          if (own !== undefined && part !== undefined && chain.accounts.withdrawn.get(key) === own.txHash)
            return Option.some(receiptOf({ inclusion: own, part }, withdrawal.accountId))
          const standing = standingOn(chain, withdrawal, confirmed)
          if (standing instanceof ChainUnavailable) return standing
          if (standing._tag === "Landed")
            return Option.some({ ...standing.receipt, actionHash: transaction.actionHash })
          return own !== undefined || nonceUsed || standing._tag === "Closed"
            ? Option.some(lostReceipt(transaction, own))
            : Option.none()
        }),
        orFail
      ),
    delivered: ({ accountId, message }, { txHash }) =>
      Effect.flatMap(
        onChain(world, chainIdOf(accountId), (chain) => {
          const found = chain.find(txHash)
          return found === undefined
            ? new ChainUnavailable({ chainId: chain.chainId, reason: `the node does not show ${txHash}` })
            : netOf(found.execution, message.recipientAccountId)
        }),
        orFail
      )
  })

  const verifier = WithdrawalVerifier.of({
    isSignedByOwner: ({ message, signature }) => Effect.succeed(signature === signatureOf(message)),
    recipientProblem: () => Effect.succeedNone,
    nativeNonce: () => Effect.die(new Error("no account of a simulation holds the native coin")),
    nativeDigest: () => Option.none(),
    selfSubmission: () => {
      throw new Error("every asset of a simulation is in the catalogue")
    }
  })
  return Layer.merge(Layer.succeed(WithdrawalTransactions, execution), Layer.succeed(WithdrawalVerifier, verifier))
}
