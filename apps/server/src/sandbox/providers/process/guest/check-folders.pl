# Runs in the sandbox before anything else does, where the user allowed folders:
#
#   check-folders.pl COUNT (PATH DEVICE INODE) x COUNT COMMAND [ARGUMENT ...]
#
# bwrap follows links when it mounts, and between the host's look at a folder and the mount somebody may have swapped it
# for a link to another. What is mounted does not change any more, so it is compared here with what the host had seen,
# and only then the command begins.
use strict;
use warnings;

my $count = shift @ARGV;
for (1 .. $count) {
  my ($path, $device, $inode) = splice @ARGV, 0, 3;
  my @found = stat $path;
  next if @found && $found[0] eq $device && $found[1] eq $inode;
  print STDERR "an allowed folder was swapped for another while the sandbox started: $path\n";
  exit 126;
}
exec { $ARGV[0] } @ARGV;
exit 127;
