// The flags of kube-scheduler, bound to the fields of a SchedulerOptions. Only for this room.
#pragma once

#include "config/flags/flag_set.h"
#include "config/flags/scheduler_options.h"

namespace berth::config {

// `options` has to outlive the flags.
FlagSet scheduler_flags(SchedulerOptions& options);

void add_secure_serving_flags(FlagSection& section, SecureServingOptions& serving);
void add_authentication_flags(FlagSection& section, AuthenticationOptions& authentication);
void add_authorization_flags(FlagSection& section, AuthorizationOptions& authorization);

}  // namespace berth::config
