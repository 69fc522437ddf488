import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { addressOf, chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import { LegacyRenewals } from "#domain/enrollment/LegacyRenewals.ts"
import { successV1 } from "#http/v1/envelopeV1.ts"
import { V1 } from "#http/v1/Api.ts"

const vault = (accountId: AccountId) => ({ chainId: chainIdOf(accountId), address: addressOf(accountId) })

export const SignaturesLive = HttpApiBuilder.group(
  V1,
  "signatures",
  Effect.fnUntraced(function* (handlers) {
    const renewals = yield* LegacyRenewals

    return handlers.handleAll({
      legacyResign: Effect.fnUntraced(function* ({ params: { portfolioId } }) {
        const { flow, message } = yield* renewals.resign(portfolioId)
        const { accountIndex, agentAccountId, chains, ownerAccountId, root } = flow.authorization
        return yield* successV1({
          signatureAction: { reason: "portfolio-resign" as const, type: "personal_sign" as const, message },
          signType: "personal_sign" as const,
          hash: root,
          userAddress: addressOf(ownerAccountId),
          agentAddress: addressOf(agentAccountId),
          accountIndex: accountIndex.toString(),
          chainIds: chains.map(({ chainId }) => chainId),
          portfolioId,
          portfolioAddresses: chains.map(({ accountId }) => vault(accountId))
        })
      }),
      resubmitSignature: Effect.fnUntraced(function* ({ params, payload: { signature, signatureAction } }) {
        const { message } = signatureAction
        const portfolio = yield* renewals.resubmit(params.portfolioId, { message, signature })
        return yield* successV1({
          portfolioId: portfolio.portfolioId,
          userAddress: addressOf(portfolio.ownerAccountId),
          message: "The new permissions count from the next operation on each chain",
          updatedAt: DateTime.formatIso(portfolio.updatedAt),
          vaults: portfolio.smartAccounts.map(vault)
        })
      })
    })
  })
)
