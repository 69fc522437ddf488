/** What an owner signs to void the agent's permissions, by what all endpoints of the chains show of the accounts. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Hex } from "viem"
import type { ChainRevocation, Revocation } from "#domain/account/Revocation.ts"
import type { RevocationRequest, RevokedAccount } from "#domain/revocation/RevocationTransactions.ts"
import { digestRoot } from "#layers/evm/account/digestTree.ts"
import { nonceUnknown, readEnableNonce } from "#layers/evm/account/enableNonce.ts"
import { operationHash } from "#layers/evm/execution/agentOperation.ts"
import { ownersOperation, rootNonce } from "#layers/evm/account/ownersOperation.ts"
import { revokingOperation } from "#layers/evm/revocation/revokingOperation.ts"
import { readEach, concluded } from "#layers/evm/rpc/quorum.ts"

/**
 * The highest of all endpoints that answer: by the nonce of a node that lags, a permission of a later nonce would
 * survive.
 */
const highestNonce = Effect.fnUntraced(function* ({ accountId, chainId }: RevokedAccount) {
  const read = yield* readEach(chainId, () => readEnableNonce(accountId))
  const nonces = yield* Effect.mapError(concluded(chainId, read), () => nonceUnknown(accountId))
  return Math.max(...nonces)
})

const draftOn = Effect.fnUntraced(function* (account: RevokedAccount, { accountType }: RevocationRequest) {
  const random = yield* SecureRandom.SecureRandom
  const terms = {
    ...account,
    validFrom: (yield* highestNonce(account)) + 1,
    operationNonce: rootNonce(yield* random.randomBytes(20))
  }
  const digest: string = operationHash(ownersOperation(revokingOperation(terms, accountType)), account.chainId)
  return { ...terms, digest } satisfies ChainRevocation
})

export const draftRevocation = Effect.fnUntraced(function* (request: RevocationRequest) {
  const { accounts, ...maker } = request
  const [first, ...others] = yield* Effect.forEach(accounts, (account) => draftOn(account, request), {
    concurrency: "unbounded"
  })
  const chains = [first!, ...others] as const
  const revocation: Revocation = { ...maker, chains, root: digestRoot(chains.map(({ digest }) => digest as Hex)) }
  return revocation
})
