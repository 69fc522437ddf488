// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Deploys accounts through an approved account factory
/// @notice Stand-in for ZeroDev's staked meta factory. It stakes nothing: the world has no public bundler.
contract MetaFactory {
    /// @dev Kernel 0.3.1's factory, the only one this world approves.
    address private constant KERNEL_FACTORY = 0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419;

    error NotApprovedFactory();

    /// @notice Deploys the account, or returns it when it is there already.
    function deployWithFactory(address factory, bytes calldata createData, bytes32 salt)
        external
        payable
        returns (address account)
    {
        if (factory != KERNEL_FACTORY) revert NotApprovedFactory();
        return IAccountFactory(factory).createAccount{value: msg.value}(createData, salt);
    }
}

/// @notice The account factory's entry, as Kernel 0.3 has it.
interface IAccountFactory {
    function createAccount(bytes calldata data, bytes32 salt) external payable returns (address account);
}
