/** Everything that the service does on EVM chains, from `EvmConfig` and a source of randomness. */
import { Layer } from "effect"
import { TokenReaderLive } from "#layers/evm/token/TokenReaderLive.ts"
import { TransferReceiptsLive } from "#layers/evm/TransferReceiptsLive.ts"
import { BalancesLive } from "#layers/evm/BalancesLive.ts"
import { CallTracerLive } from "#layers/evm/CallTracerLive.ts"
import { ActionReceiptsLive } from "#layers/evm/ActionReceiptsLive.ts"
import { SwapBatchesLive } from "#layers/evm/SwapBatchesLive.ts"
import { UserOperationsLive } from "#layers/evm/UserOperationsLive.ts"
import { ChainsLive } from "#layers/evm/ChainsLive.ts"
import { ChainNodesLive } from "#layers/evm/rpc/ChainNodesLive.ts"
import { ChainStatesLive } from "#layers/evm/ChainStatesLive.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { BlockReader } from "#layers/evm/execution/BlockReader.ts"
import { ChainCostsLive } from "#layers/evm/ChainCostsLive.ts"
import { RelayerFundsLive } from "#layers/evm/RelayerFundsLive.ts"
import { RelayerLive } from "#layers/evm/RelayerLive.ts"
import { OperationTagsLive } from "#layers/evm/OperationTagsLive.ts"
import { PolicyReaderLive } from "#layers/evm/policy/PolicyReaderLive.ts"
import { RevocationTransactionsLive } from "#layers/evm/revocation/RevocationTransactionsLive.ts"
import { SignersLive } from "#layers/evm/signer/SignersLive.ts"
import { ServiceContractsLive } from "#layers/evm/ServiceContractsLive.ts"
import { SignInVerifierLive } from "#layers/evm/account/SignInVerifierLive.ts"
import { SmartAccountsLive } from "#layers/evm/SmartAccountsLive.ts"
import { VenueLive } from "#layers/evm/VenueLive.ts"
import { WithdrawalTransactionsLive } from "#layers/evm/withdrawal/WithdrawalTransactionsLive.ts"
import { WithdrawalVerifierLive } from "#layers/evm/withdrawal/WithdrawalVerifierLive.ts"

/**
 * Chains, ChainStates, ChainNodes, ServiceContracts, SmartAccounts, SignInVerifier, Balances, ChainCosts, Venue,
 * SwapBatches, CallTracer, OperationTags, UserOperations, ActionReceipts, Relayer, RelayerFunds, TokenReader,
 * TransferReceipts, RevocationTransactions, PolicyReader, WithdrawalTransactions and WithdrawalVerifier.
 */
export const EvmLive = Layer.mergeAll(
  ChainStatesLive.pipe(Layer.provideMerge(ChainsLive)),
  ChainNodesLive,
  ServiceContractsLive,
  SmartAccountsLive,
  SignInVerifierLive,
  BalancesLive,
  ChainCostsLive,
  VenueLive,
  SwapBatchesLive,
  CallTracerLive,
  OperationTagsLive,
  UserOperationsLive,
  ActionReceiptsLive,
  RelayerFundsLive.pipe(Layer.provideMerge(RelayerLive)),
  TokenReaderLive,
  TransferReceiptsLive,
  RevocationTransactionsLive,
  PolicyReaderLive,
  WithdrawalTransactionsLive,
  WithdrawalVerifierLive
).pipe(Layer.provide(BlockReader.layer), Layer.provide([EvmClients.layer, SignersLive]))
