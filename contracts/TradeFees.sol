// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {LossBudget} from "./LossBudget.sol";

/// @title Fees of trades, as the owner of an account signed them
/// @notice A fee is a share of what a trade buys. The owner signs its recipient and the most that it may be, which is
/// what it is until the agent sets it lower; nobody but the owner changes the recipient. The integrator has one, and
/// the service.
abstract contract TradeFees is LossBudget {
    /// @notice One fee, in one word of storage.
    struct Fee {
        address recipient;
        /// What the owner signed.
        uint8 mostBps;
        /// What is taken.
        uint8 bps;
    }

    /// @notice The most that both fees may be together.
    uint256 internal constant WIDEST_FEES_BPS = 100;

    /// @notice Count while the account's word says that its owner signed them.
    mapping(address account => Fee) public integratorFees;
    mapping(address account => Fee) public serviceFees;

    event FeesSet(address indexed account, uint256 integratorBps, uint256 serviceBps);
    event FeeTaken(address indexed account, address indexed token, address indexed recipient, uint256 amount);

    error FeeNotSigned(uint256 integratorBps, uint256 serviceBps);

    /// @notice Sets what is taken of the calling account's trades from now on, within what its owner signed. The agent
    /// may.
    function setFees(uint8 integratorBps, uint8 serviceBps) external {
        uint8 signed = _accounts[msg.sender].signed;
        bool isSigned = _setFee(integratorFees[msg.sender], signed & INTEGRATOR_FEE, integratorBps)
            && _setFee(serviceFees[msg.sender], signed & SERVICE_FEE, serviceBps);
        if (!isSigned) revert FeeNotSigned(integratorBps, serviceBps);
        emit FeesSet(msg.sender, integratorBps, serviceBps);
    }

    function _setFee(Fee storage fee, uint8 isSigned, uint8 bps) private returns (bool) {
        if (isSigned == 0) return bps == 0;
        if (bps > fee.mostBps) return false;
        fee.bps = bps;
        return true;
    }
}
