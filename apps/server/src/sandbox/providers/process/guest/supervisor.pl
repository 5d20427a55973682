# Process 1 of one sandboxed command. Perl, since it starts in 2 ms and takes 5 MB of the command's memory.
#
#   supervisor.pl STATUS_FD CWD COMMAND [NAME=VALUE ...]
#
# Runs COMMAND by /bin/sh in a process group of its own and tells the host on STATUS_FD, in lines of JSON, that it
# started and how it ended (exit code and signal told apart, which bwrap's own exit code cannot do). When the command
# itself has ended, what it left running is counted and killed, so that no background child holds the call open.
# Output goes through pipes made here: they belong to the sandbox's user, so /dev/stdout and /dev/stderr can be
# opened, and they read to their end once nobody writes any more.
use strict;
use warnings;

my ($status_fd, $cwd, $command, @env) = @ARGV;
open(my $status, '>&=', $status_fd) or die "status: $!";
binmode $_ for \*STDOUT, \*STDERR, $status;

sub report { syswrite $status, $_[0] . "\n" }

$cwd =~ s/\\x([0-9a-fA-F]{2})/chr hex $1/ge;
if (!chdir $cwd) { report('{"cwd":false}'); exit 0 }

pipe(my $out, my $out_end) or die "pipe: $!";
pipe(my $err, my $err_end) or die "pipe: $!";

my $main = fork;
if (!defined $main) { report('{"fork":false}'); exit 0 }
if ($main == 0) {
  setpgrp 0, 0;
  open(STDOUT, '>&', $out_end) and open(STDERR, '>&', $err_end) or exit 126;
  close $status;
  for (@env) { my ($name, $value) = split /=/, $_, 2; $ENV{$name} = $value }
  delete $ENV{PWD};    # the shell finds it out
  exec { '/bin/sh' } 'sh', '-c', $command;
  exit 127;
}

# As process 1 it is spared by kill -1, which reaches everything else in the sandbox, whatever session it made.
$SIG{TERM} = sub { kill 'TERM', -1 };
$SIG{PIPE} = 'IGNORE';
$SIG{CHLD} = sub { };
close $out_end;
close $err_end;
report("{\"started\":$main}");

my %open = (fileno($out) => [$out, \*STDOUT], fileno($err) => [$err, \*STDERR]);
my $wait_status;
my $nohang = 1;

sub reap {
  my ($flags) = @_;
  while ((my $pid = waitpid(-1, $flags)) > 0) {
    $wait_status = $? if $pid == $main;
    return if $pid == $main;
  }
}

sub forward {
  my ($fd) = @_;
  my ($from, $to) = @{ $open{$fd} };
  my $count = sysread $from, my $bytes, 65536;
  return if !defined $count && $!{EINTR};
  if (!$count) { close $from; delete $open{$fd}; return }
  my $sent = 0;
  while ($sent < $count) {
    my $wrote = syswrite $to, $bytes, $count - $sent, $sent;
    if (defined $wrote) { $sent += $wrote }
    elsif (!$!{EINTR}) { exit 1 }    # the host is gone
  }
}

sub forward_ready {
  my ($timeout) = @_;
  my $ready = '';
  vec($ready, $_, 1) = 1 for keys %open;
  return if select($ready, undef, undef, $timeout) <= 0;
  for my $fd (keys %open) { forward($fd) if vec($ready, $fd, 1) }
}

until (defined $wait_status) {
  if (%open) { forward_ready(0.1); reap($nohang) }
  else { reap(0) }
}

my $left = 0;
reap($nohang);
if (opendir my $proc, '/proc') {
  for my $pid (grep { /^\d+$/ && $_ != 1 } readdir $proc) {
    open my $stat, '<', "/proc/$pid/stat" or next;
    my $line = <$stat> // '';
    $left++ if $line !~ /\) [ZX] /;
  }
}
kill 'KILL', -1;
forward_ready(1) while %open;
report(sprintf '{"exit":%d,"signal":%d,"leftovers":%d}', $wait_status >> 8, $wait_status & 127, $left);
