/** Everything that the service does on EVM chains, from `EvmConfig` and a source of randomness. */
import { Layer } from "effect"
import { TokenReaderLive } from "#layers/evm/token/TokenReaderLive.ts"
import { TransferReceiptsLive } from "#layers/evm/TransferReceiptsLive.ts"
import { BalancesLive } from "#layers/evm/BalancesLive.ts"
import { CallTracerLive } from "#layers/evm/CallTracerLive.ts"
import { CarriedActionsLive } from "#layers/evm/CarriedActionsLive.ts"
import { ChainExecutionLive } from "#layers/evm/ChainExecutionLive.ts"
import { UserOperationsLive } from "#layers/evm/UserOperationsLive.ts"
import { ChainsLive } from "#layers/evm/ChainsLive.ts"
import { ChainNodesLive } from "#layers/evm/rpc/ChainNodesLive.ts"
import { ChainStatesLive } from "#layers/evm/ChainStatesLive.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { BlockReader } from "#layers/evm/execution/BlockReader.ts"
import { ChainCostsLive } from "#layers/evm/ChainCostsLive.ts"
import { RelayerFundsLive } from "#layers/evm/RelayerFundsLive.ts"
import { RelayerLive } from "#layers/evm/RelayerLive.ts"
import { OperationMarksLive } from "#layers/evm/OperationMarksLive.ts"
import { PolicyReaderLive } from "#layers/evm/policy/PolicyReaderLive.ts"
import { RevocationExecutionLive } from "#layers/evm/revocation/RevocationExecutionLive.ts"
import { SignersLive } from "#layers/evm/signer/SignersLive.ts"
import { ServiceContractsLive } from "#layers/evm/ServiceContractsLive.ts"
import { SignInVerifierLive } from "#layers/evm/account/SignInVerifierLive.ts"
import { SmartAccountsLive } from "#layers/evm/SmartAccountsLive.ts"
import { VenueLive } from "#layers/evm/VenueLive.ts"
import { WithdrawalExecutionLive } from "#layers/evm/withdrawal/WithdrawalExecutionLive.ts"
import { WithdrawalVerifierLive } from "#layers/evm/withdrawal/WithdrawalVerifierLive.ts"

/**
 * Chains, ChainStates, ChainNodes, ServiceContracts, SmartAccounts, SignInVerifier, Balances, ChainCosts, Venue,
 * ChainExecution, CallTracer, OperationMarks, UserOperations, CarriedActions, Relayer, RelayerFunds, TokenReader,
 * TransferReceipts, RevocationExecution, PolicyReader, WithdrawalExecution and WithdrawalVerifier.
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
  ChainExecutionLive,
  CallTracerLive,
  OperationMarksLive,
  UserOperationsLive,
  CarriedActionsLive,
  RelayerFundsLive.pipe(Layer.provideMerge(RelayerLive)),
  TokenReaderLive,
  TransferReceiptsLive,
  RevocationExecutionLive,
  PolicyReaderLive,
  WithdrawalExecutionLive,
  WithdrawalVerifierLive
).pipe(Layer.provide(BlockReader.layer), Layer.provide([EvmClients.layer, SignersLive]))
