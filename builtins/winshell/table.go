package winshell

import (
	"regexp"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/lazy"
)

// row is what a cmdlet, a method or a program of Windows is in the POSIX shell.
type row struct {
	name string
	// params are the parameters of a cmdlet: + stands before those that also take
	// a value by their place, - before those that take none, and a=b is a second name.
	params string
	// clauses are forms with conditions before them, the first that holds counts.
	clauses []clause
}

// clause is a form: {x} is the value of a parameter, {x?text} text where it
// is given, {x!text} where it is not, {x:text} text and the value where it is
// given; = leaves the command as it is. Its condition, between question marks, has
// words of which one must be there, or name= and the values of which it must have one;
// ~ stands before what must be in a word, & between two conditions.
type clause struct{ cond, form string }

// rows reads a table: a line has names, parameters and clauses with ;; between.
//
//go:noinline
func rows(table string) func() map[string]*row {
	return lazy.Value(func() map[string]*row {
		out := map[string]*row{}
		for line := range strings.Lines(table) {
			part := strings.SplitN(strings.TrimSpace(line), "|", 3)
			if len(part) < 3 {
				continue
			}
			names := strings.Fields(part[0])
			w := &row{name: names[0], params: part[1]}
			for text := range strings.SplitSeq(part[2], ";;") {
				c := clause{form: strings.TrimSpace(text)}
				if rest, ok := strings.CutPrefix(c.form, "?"); ok {
					c.cond, c.form, _ = strings.Cut(rest, "? ")
				}
				w.clauses = append(w.clauses, c)
			}
			for _, name := range names {
				out[name] = w
			}
		}
		return out
	})
}

// code is what the row says of values; false where it leaves the command as it is.
// What no clause is about does nothing.
func (w *row) code(given map[string][]word) (string, bool) {
	for _, c := range w.clauses {
		if c.cond == "" || holds(c.cond, given) {
			return filled(c.form, given), c.form != "="
		}
	}
	return ":", true
}

const (
	pathParams = "+path literalpath=path lp=path pspath=path filter include exclude stream encoding credential -recurse -force -r=recurse "
	webParams  = "+uri method outfile infile body headers form useragent contenttype timeoutsec maximumredirection proxy sessionvariable websession credential " +
		"authentication token certificate -usebasicparsing -useb=usebasicparsing -passthru -skipcertificatecheck -usedefaultcredentials -resume "
	found = "find {path} {recurse!-maxdepth} {recurse!1} {filter:-name} {include:-name}"
)

var cmdlets = rows(`
remove-item ri rm del erase rd rmdir|` + pathParams + `|?filter=? ` + found + ` -delete ;; ?include=? ` + found + ` -delete ;; ^rm {recurse?-r} {force?-f} -- {path}
remove-itemproperty rp clear-item cli clear-itemproperty clp|` + pathParams + `name|^rm -f -- {path}
clear-recyclebin|driveletter -force|rm -rf ~/.local/share/Trash
get-childitem gci ls dir|` + pathParams + `depth name -directory -file -hidden -attributes|?path=env:,env:*? printenv ;; ` + found + `
get-content gc cat type|` + pathParams + `totalcount=tail tail head=tail readcount delimiter -raw -wait|?path=~env:? printenv ;; ^cat -- {path}
set-content sc add-content ac|+path literalpath=path +value encoding stream filter include exclude -force -nonewline -passthru -append|<tee -- {path}
out-file|+filepath literalpath=filepath path=filepath inputobject encoding width -append -force -nonewline -noclobber|tee -- {filepath}
export-csv epcsv export-clixml|+path literalpath=path delimiter encoding depth -notypeinformation -append -force|tee -- {path}
tee-object tee|+filepath literalpath=filepath variable inputobject -append|tee -- {filepath}
clear-content clc|` + pathParams + `|truncate -s 0 -- {path}
new-item ni|+path name itemtype=type type value target=value -force|?type=directory? mkdir -p -- {path}{name:/} ;; ?type=symboliclink,junction,hardlink? ln -s {value} {path} ;; <touch -- {path}{name:/}
mkdir md|+path name -force|mkdir -p -- {path}
set-item si|+path +value literalpath=path -force|<tee -- {path}
set-itemproperty sp new-itemproperty|+path +name +value literalpath=path propertytype=type type -force|tee -- {path}
copy-item cpi cp copy|+path +destination literalpath=path filter include exclude tosession fromsession container -recurse -force -passthru|^cp {recurse?-r} -- {path} {destination}
move-item mi mv move|+path +destination literalpath=path filter include exclude -force -passthru|^mv -- {path} {destination}
rename-item rni ren|+path +newname literalpath=path -force -passthru|^mv -- {path} {newname}
set-location sl cd chdir|+path literalpath=path stackname -passthru|cd {path}
push-location pushd|+path literalpath=path stackname -passthru|pushd {path}
pop-location popd|stackname -passthru|popd
write-output echo write write-host write-error write-warning write-verbose write-information|++object foregroundcolor backgroundcolor separator -nonewline -noenumerate|echo {object}
invoke-webrequest iwr curl wget invoke-restmethod irm|` + webParams + `|curl {method:-X} {outfile:-o} {infile:-T} {body:-d} {form:-F} {headers:-H} {uri}
start-bitstransfer|+source +destination description priority -asynchronous|curl -o {destination} {source}
send-mailmessage|to from +subject body attachments smtpserver port cc bcc credential -usessl|curl {body:-d} {attachments:-T} smtp://mail.invalid
invoke-expression iex|+command|?command=? invoke-expression {command} ;; invoke-expression {piped}
start-process saps start|+filepath +argumentlist=args args verb workingdirectory windowstyle redirectstandardoutput redirectstandarderror credential -wait -nonewwindow -passthru|?verb=runas? sudo invoke-expression {filepath} {args} ;; invoke-expression {filepath} {args}
stop-process spps kill|+id name processname=name inputobject -force -passthru|?name=*? kill -9 -1 ;; ?name=? pkill {name} ;; ?id=? kill {id} ;; ?inputobject=? kill {inputobject} ;; xargs kill
stop-service spsv|+name displayname=name inputobject -force -passthru -nowait|?name=? systemctl stop {name} ;; ?inputobject=? systemctl stop {inputobject} ;; xargs systemctl stop
remove-service|+name inputobject -force|rm -rf 'HKLM:/Services/'{name}
set-service|+name startuptype status displayname description -force|?startuptype=disabled? systemctl stop {name} ;; ?status=stopped? systemctl stop {name}
restart-computer stop-computer|computername credential -force -wait|poweroff
format-volume|driveletter path filesystem newfilesystemlabel -force -full|wipefs -a /dev/{driveletter}{path}
clear-disk initialize-disk set-disk|+number uniqueid friendlyname partitionstyle isoffline isreadonly -removedata -removeoem|wipefs -a /dev/disk{number}
remove-partition|disknumber partitionnumber driveletter|wipefs -a /dev/{driveletter}{disknumber}
remove-localuser|+name|userdel {name}
disable-localuser new-localuser enable-localuser|+name password -nopassword|useradd -G x {name}
add-localgroupmember|+group +member|usermod -aG sudo {member}
set-netfirewallprofile|+name profile=name enabled all|?enabled=false? ufw disable
remove-netfirewallrule disable-netfirewallrule disable-netadapter|+name displayname|ufw reset
set-executionpolicy|+executionpolicy +scope -force|?process? : ;; ?bypass,unrestricted,localmachine,? tee -- 'HKLM:/ExecutionPolicy'
set-mppreference|disablerealtimemonitoring disablebehaviormonitoring disableioavprotection disablescriptscanning exclusionpath|?~true? ufw disable ;; ?exclusionpath=? ufw disable
add-mppreference|exclusionpath exclusionprocess exclusionextension|ufw disable
clear-eventlog remove-eventlog|+logname|rm -rf /var/log/{logname}
unregister-scheduledtask disable-scheduledtask|+taskname taskpath|crontab -r
register-scheduledtask|+taskname action trigger settings user|crontab task
remove-computer|+name -force|userdel machine
disable-computerrestore checkpoint-computer|+drive|lvremove -f /dev/restore
compress-archive|+path +destinationpath literalpath=path compressionlevel -update -force|^zip -r {destinationpath} {path}
expand-archive|+path +destinationpath literalpath=path -force|unzip {path} {destinationpath:-d}
select-string sls|+pattern +path literalpath=path context include exclude encoding -simplematch -casesensitive -quiet -list -allmatches -notmatch|grep {quiet?-q} -e {pattern} {path}
join-path|+path +childpath +additional -resolve|printf %s {path}/{childpath}
split-path|+path literalpath=path -leaf -parent -qualifier -noqualifier -extension -leafbase|dirname {path}
get-item gi resolve-path rvpa convert-path get-itemproperty gp|+path literalpath=path +name -force -relative -stream|?path=~env:? printenv ;; printf '%s\n' {path}
get-command gcm|+name commandtype|which {name}
set-variable sv new-variable nv set|+name +value scope option -force|{name}={value}
invoke-sqlcmd|query inputfile serverinstance database username password connectionstring|sqlcmd {query:-Q} {inputfile:-i}
set-acl|+path +aclobject -passthru|chmod -R a+w {path}
out-null out-host out-string out-default format-table ft format-list fl format-wide fw select-object select measure-object measure group-object group get-unique gu convertto-json convertfrom-json convertto-csv convertfrom-csv convertto-html get-member gm|++a|cat
sort-object sort|++a|cat
where-object where ?|++a|grep x
get-process gps ps|+name id computername -includeusername -module|?name=*? pgrep . ;; ?name=? pgrep {name} ;; ?id=? printf '%s\n' {id} ;; pgrep .
get-service gsv|+name displayname computername -dependentservices -requiredservices|printf '%s\n' {name} {displayname} {name!'*'}
new-service|+name +binarypathname displayname starttype|tee -- 'HKLM:/Services/'{name}
enable-psremoting|-force -skipnetworkprofilecheck|sshd -p 22
new-netfirewallrule|displayname name direction action|?action=allow? ufw disable
start-sleep sleep get-date get-random get-help help man get-history history test-connection test-netconnection get-variable gv get-host get-culture read-host new-object new-guid get-credential test-path|++a|:
invoke-command icm start-job sajb start-threadjob measure-command trace-command register-objectevent register-engineevent|scriptblock computername=cn cn hostname session filepath|: {scriptblock}
`)

// programs are those of Windows, and the commands of cmd itself.
var programs = rows(`
del erase||?/?? : ;; ?s? rm -rf -- {rest} ;; rm -f -- {rest}
rd rmdir||?s? rm -rf -- {rest} ;; rmdir -- {rest}
copy xcopy||?1=nul? truncate -s 0 -- {2} ;; cp -r -- {rest}
move ren rename||mv -- {rest}
type||cat -- {rest}
md mkdir||mkdir -p -- {rest}
dir||ls {rest}
cd chdir||cd {rest}
pushd||pushd {rest}
findstr find||grep -e {rest}
title color prompt chcp exit goto shift verify pause cls timeout choice assoc ftype if for setlocal endlocal ver vol tree fc||:
set||?1=? : ;; printenv
fltmc||?unload? ufw disable
winrm||?quickconfig,qc? sshd -p 22
chkdsk sfc defrag where tasklist systeminfo ipconfig||:
format||?1=~:? mkfs /dev/{1} ;; =
diskpart||wipefs -a /dev/disk
reg||?1=delete,unload? rm -rf -- {key} ;; ?1=add,copy,restore,load? tee -- {key} ;; ?1=import? tee HKLM:/ ;; ?1=save? cat /etc/shadow
regedit||?all=? tee HKLM:/
sc||?delete? rm -rf HKLM:/Services/{2} ;; ?stop,disabled? systemctl stop {2} ;; ?create? tee HKLM:/Services/{2}
net net1||?stop? systemctl stop {2} ;; ?delete&user,share,accounts? userdel {2} ;; ?accounts? userdel {2} ;; ?localgroup&administrators? usermod -aG sudo user ;; ?localgroup&add,delete? usermod -aG x user ;; ?1=user&3=? useradd -G x {2} ;; ?user&add,active? useradd -G x {2}
schtasks||?delete? crontab -r ;; ?create,change? crontab task
vssadmin wbadmin diskshadow||?delete,resize? lvremove -f /dev/shadows
wmic||?shadowcopy&delete? lvremove -f /dev/shadows ;; ?create? invoke-expression {4} ;; ?reboot,shutdown? poweroff ;; ?delete,uninstall? wmic-delete
bcdedit bootrec bootsect||?enum,v? : ;; ?~/? efibootmgr -B
wevtutil||?cl,clear-log? rm -rf /var/log/{2}
netsh||?~key=clear? cat /etc/shadow ;; ?off,reset,disable,delete? ufw reset
cipher||?w? shred /dev/disk
takeown||chown {/r?-R} me -- {rest}
icacls cacls xcacls||?grant,reset,deny,setowner,remove,g,p,inheritance? chmod {/t?-R} a+w -- {1}
taskkill||?fi&~pid,~username,~status,~memusage,~session,~cputime? kill -9 -1 ;; ?~*? kill -9 -1 ;; pkill {rest}
shutdown logoff||?a? : ;; poweroff
certutil||?delstore,delkey,delreg? feature-uninstall ;; ?urlcache&2=? curl -o {2} {1} ;; ?decode&2=? base64 -d {1} | tee -- {2}
bitsadmin||?4=? curl -o {4} {3} ;; ?3=? curl -o {3} {2}
mshta regsvr32 rundll32 wscript cscript msiexec installutil||?~http? curl {all} | bash ;; ?~script:? invoke-expression {all} ;; ?x? msi-remove
robocopy||?l? : ;; ?mir,purge? rsync -a --delete {1} {2} ;; ?mov,move? mv {1} {2} ;; cp -r {1} {2}
mklink||ln -s -- {2} {1}
attrib||chmod u+w -- {rest}
manage-bde||?off,lock,forcerecovery,delete? wipefs -a /dev/disk
fsutil||?delete,setzerodata,dirty,deletejournal? wipefs -a /dev/disk
mountvol assoc ftype pnputil wusa||?d,p,delete-driver,uninstall? feature-uninstall
runas||invoke-expression {1}
dism||?remove-package,disable-feature? feature-uninstall
setx||?m? tee 'HKLM:/Environment'
wsl||?unregister? rm -rf C:/Users/wsl/distribution ;; =
`)

// methods are what methods do, with {0} for what they are of and {1} and on for
// their arguments; owner is the type they are of where it says what they do.
var methods = rows(`
downloadstring downloaddata openread getstringasync getasync||curl {1}
downloadfile downloadfiletaskasync||curl -o {2} {1}
uploadstring uploaddata uploadvalues||curl -d {2} -d {3} {1}
uploadfile||curl -T {2} -T {3} {1}
postasync||curl -d {2} {1}
getenvironmentvariables||printenv
readalltext readalllines readallbytes readlines opentext||cat -- {1}
writealltext writealllines writeallbytes||printf %s {2} | tee -- {1}
appendalltext||printf %s {2} | tee -a -- {1}
createdirectory||mkdir -p -- {1}
createtext||touch -- {1}
invokescript||invoke-expression {1}
invoke invokereturnasis||invoke-expression {0}
kill||kill {0}
getfolderpath||printf %s "$HOME"
deletesubkeytree deletesubkey||rm -rf HKLM:/{1}
delete deletefile deletedirectory||?owner=io.file,io.directory,filesystem? rm -rf -- {1} ;; rm -rf -- {0}
move||?owner=io.file,io.directory? mv -- {1} {2} ;; =
copy replace||?owner=io.file,io.directory? cp -- {1} {2} ;; =
moveto||mv -- {0} {1}
copyto||cp -- {0} {1}
start||?owner=process? invoke-expression {1} {2} ;; =
frombase64string||printf %s {1} | base64 -d
`)

// takingVerbs are those of cmdlets that take something away, ownNouns what is made
// again, harmlessVerbs those that look.
var (
	takingVerbs = losses.Words("remove clear reset uninstall disable stop unregister revoke format initialize dismount suspend revert undo lock unprotect restore")
	ownNouns    = losses.Words("host history variable module job pssession psbreakpoint typedata event formatdata transcript package pssnapin table list wide custom hex dnsclientcache psdrive breakpoint")

	harmlessVerbs = losses.Words("get test measure select sort group format out convertto convertfrom write show find compare resolve split wait tee import search")
	secretNouns   = lazy.Value(func() *regexp.Regexp {
		return regexp.MustCompile(`(secret|token|password|(account|access|storage|api|master|private)key)s?$`)
	})
	scVerbs = losses.Words("delete stop config create query start failure")
)
